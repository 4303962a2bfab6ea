# SPDX-License-Identifier: Apache-2.0
"""What a device's driver and cuDNN say of it, as one JSON object: device.py [LIBCUDNN]

"driver": attributes by the names that cudaDeviceProp has; "cudnn": the description by which cuDNN's heuristics and
plans can be asked about the device where it is not (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, cuDNN 9.8 and later).
What cannot be asked is null, and said on standard error."""
import ctypes
import json
import sys

# CUdevice_attribute, of cuda.h
ATTRIBUTES = {
    "maxThreadsPerBlock": 1, "sharedMemPerBlock": 8, "totalConstMem": 9, "warpSize": 10, "regsPerBlock": 12,
    "clockRate": 13, "multiProcessorCount": 16, "kernelExecTimeoutEnabled": 17, "integrated": 18, "computeMode": 20,
    "concurrentKernels": 31, "ECCEnabled": 32, "memoryClockRate": 36, "memoryBusWidth": 37, "l2CacheSize": 38,
    "maxThreadsPerMultiProcessor": 39, "asyncEngineCount": 40, "unifiedAddressing": 41, "major": 75, "minor": 76,
    "sharedMemPerMultiprocessor": 81, "regsPerMultiprocessor": 82, "sharedMemPerBlockOptin": 97,
    "maxBlocksPerMultiProcessor": 106, "reservedSharedMemPerBlock": 111}

# cudnnBackendDescriptorType_t, cudnnBackendAttributeName_t and cudnnBackendAttributeType_t, of cudnn_graph.h
DEVICEPROP_DESCRIPTOR, DEVICE_ID, JSON_REPRESENTATION, INT32, CHAR = 38, 2700, 2702, 23, 24


def asked(status, what):
    if status:
        raise OSError("%s: status %d" % (what, status))


def driver():
    cuda = ctypes.CDLL("libcuda.so.1")
    asked(cuda.cuInit(0), "cuInit")
    device, value, size, name = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t(), ctypes.create_string_buffer(256)
    asked(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    asked(cuda.cuDeviceGetName(name, 256, device), "cuDeviceGetName")
    asked(cuda.cuDeviceTotalMem_v2(ctypes.byref(size), device), "cuDeviceTotalMem")
    told = {"name": name.value.decode(), "totalGlobalMem": size.value}
    asked(cuda.cuDriverGetVersion(ctypes.byref(value)), "cuDriverGetVersion")
    told["driverVersion"] = value.value
    for key, number in ATTRIBUTES.items():
        told[key] = None if cuda.cuDeviceGetAttribute(ctypes.byref(value), number, device) else value.value
    return told


def cudnn(library):
    dnn = ctypes.CDLL(library)
    dnn.cudnnGetVersion.restype = ctypes.c_size_t
    properties, device, size = ctypes.c_void_p(), ctypes.c_int32(0), ctypes.c_int64()
    asked(dnn.cudnnBackendCreateDescriptor(DEVICEPROP_DESCRIPTOR, ctypes.byref(properties)), "a DEVICEPROP descriptor")
    asked(dnn.cudnnBackendSetAttribute(properties, DEVICE_ID, INT32, ctypes.c_int64(1), ctypes.byref(device)), "DEVICE_ID")
    asked(dnn.cudnnBackendFinalize(properties), "finalize")
    ask = dnn.cudnnBackendGetAttribute
    asked(ask(properties, JSON_REPRESENTATION, CHAR, ctypes.c_int64(0), ctypes.byref(size), None), "JSON_REPRESENTATION")
    text = ctypes.create_string_buffer(size.value + 1)
    asked(ask(properties, JSON_REPRESENTATION, CHAR, size, ctypes.byref(size), text), "JSON_REPRESENTATION")
    return {"version": dnn.cudnnGetVersion(), "device": json.loads(text.value.decode())}


def main():
    told = {}
    for key, ask in ("driver", driver), ("cudnn", lambda: cudnn(sys.argv[1] if len(sys.argv) > 1 else "libcudnn.so.9")):
        try:
            told[key] = ask()
        except (OSError, AttributeError, ValueError) as why:
            print("device.py: %s: %s" % (key, why), file=sys.stderr)
            told[key] = None
    print(json.dumps(told))


main()
