# SPDX-License-Identifier: Apache-2.0
# Each parameter of a rule is an argument of one of its operations, as PyTorch's schema names it, and a parameter without a
# default one of each of them. So a misspelled parameter, which would always have its default, fails here. Each rule is
# documented.
need_torch 2.15
cat >arguments.py <<'END'
import inspect, sys
import torch
try:
    import transformers.integrations.moe  # it registers operations
except ImportError:
    pass
from mcz.symmetry.rules import RULES


def problems(rules):
    functions = {}
    for name, rule in rules.items():
        functions.setdefault(rule.function, []).append(name)
    for function, names in functions.items():
        own = {}
        for name in names:
            space, _, op = name.rpartition("::")
            packet = getattr(getattr(torch.ops, space or "aten"), op, None)
            if packet is not None:
                overloads = [getattr(packet, o)._schema for o in packet.overloads()]
                own[name] = {a.name for s in overloads for a in s.arguments}
        if not function.__doc__:
            yield "%s: no docstring" % function.__name__
        _, *parameters = inspect.signature(function).parameters.values()
        for p in parameters if own else ():
            if not any(p.name in arguments for arguments in own.values()):
                yield "%s: %s is not an argument of %s" % (function.__name__, p.name, ", ".join(own))
            lacking = [n for n, arguments in own.items() if p.name not in arguments]
            if p.default is p.empty and lacking:
                yield "%s: %s is not an argument of %s" % (function.__name__, p.name, ", ".join(lacking))


found = list(problems(RULES))
assert len(RULES) > 200 and not found, found
# no kind is the name of an operation of another kind
kinds = {r.kind for r in RULES.values() if r.kind}
assert all(RULES[k].kind in (k, None) for k in kinds if k in RULES), kinds
# the test finds a misspelled parameter
def cumsum(op, self, dims=None):
    """y = x"""
(wrong,) = problems({"cumsum": type(RULES["cumsum"])(cumsum)})
assert wrong == "cumsum: dims is not an argument of cumsum", wrong
END
$python arguments.py
