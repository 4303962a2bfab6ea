# SPDX-License-Identifier: Apache-2.0
"""Print a device's description by its driver and by cuDNN as one JSON object: device.py [LIBCUDNN]

"driver" has attributes by their names in cudaDeviceProp. "cudnn" has the description with which cuDNN's heuristics and
plans work without the device (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, cuDNN 9.8 and later). A part that is not
available is null, with the reason on standard error."""
import ctypes
import json
import sys

# CUdevice_attribute in cuda.h
ATTRIBUTES = {
    "maxThreadsPerBlock": 1, "sharedMemPerBlock": 8, "totalConstMem": 9, "warpSize": 10, "regsPerBlock": 12,
    "clockRate": 13, "multiProcessorCount": 16, "kernelExecTimeoutEnabled": 17, "integrated": 18, "computeMode": 20,
    "concurrentKernels": 31, "ECCEnabled": 32, "memoryClockRate": 36, "memoryBusWidth": 37, "l2CacheSize": 38,
    "maxThreadsPerMultiProcessor": 39, "asyncEngineCount": 40, "unifiedAddressing": 41, "major": 75, "minor": 76,
    "sharedMemPerMultiprocessor": 81, "regsPerMultiprocessor": 82, "sharedMemPerBlockOptin": 97,
    "maxBlocksPerMultiProcessor": 106, "reservedSharedMemPerBlock": 111}

# cudnnBackendDescriptorType_t, cudnnBackendAttributeName_t and cudnnBackendAttributeType_t in cudnn_graph.h
DEVICEPROP_DESCRIPTOR, DEVICE_ID, JSON_REPRESENTATION, INT32, CHAR = 38, 2700, 2702, 23, 24


def check(status, call):
    if status:
        raise OSError("%s: status %d" % (call, status))


def driver():
    cuda = ctypes.CDLL("libcuda.so.1")
    check(cuda.cuInit(0), "cuInit")
    device, value, size, name = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t(), ctypes.create_string_buffer(256)
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cuda.cuDeviceGetName(name, 256, device), "cuDeviceGetName")
    check(cuda.cuDeviceTotalMem_v2(ctypes.byref(size), device), "cuDeviceTotalMem")
    result = {"name": name.value.decode(), "totalGlobalMem": size.value}
    check(cuda.cuDriverGetVersion(ctypes.byref(value)), "cuDriverGetVersion")
    result["driverVersion"] = value.value
    for key, number in ATTRIBUTES.items():
        result[key] = None if cuda.cuDeviceGetAttribute(ctypes.byref(value), number, device) else value.value
    return result


def cudnn(library):
    dnn = ctypes.CDLL(library)
    dnn.cudnnGetVersion.restype = ctypes.c_size_t
    properties, device, size = ctypes.c_void_p(), ctypes.c_int32(0), ctypes.c_int64()
    check(dnn.cudnnBackendCreateDescriptor(DEVICEPROP_DESCRIPTOR, ctypes.byref(properties)), "a DEVICEPROP descriptor")
    check(dnn.cudnnBackendSetAttribute(properties, DEVICE_ID, INT32, ctypes.c_int64(1), ctypes.byref(device)), "DEVICE_ID")
    check(dnn.cudnnBackendFinalize(properties), "finalize")
    get = dnn.cudnnBackendGetAttribute
    check(get(properties, JSON_REPRESENTATION, CHAR, ctypes.c_int64(0), ctypes.byref(size), None), "JSON_REPRESENTATION")
    text = ctypes.create_string_buffer(size.value + 1)
    check(get(properties, JSON_REPRESENTATION, CHAR, size, ctypes.byref(size), text), "JSON_REPRESENTATION")
    return {"version": dnn.cudnnGetVersion(), "device": json.loads(text.value.decode())}


def main():
    result = {}
    for key, function in ("driver", driver), ("cudnn", lambda: cudnn(sys.argv[1] if len(sys.argv) > 1 else "libcudnn.so.9")):
        try:
            result[key] = function()
        except (OSError, AttributeError, ValueError) as error:
            print("device.py: %s: %s" % (key, error), file=sys.stderr)
            result[key] = None
    print(json.dumps(result))


main()
