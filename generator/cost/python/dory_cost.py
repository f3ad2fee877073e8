"""What a layer costs on a machine: a thin layer over the C library of dory/cost.h. Needs nothing but python3.

    import dory_cost

    model = dory_cost.Model("gap8")
    cost = model.cost(height=32, width=32, channels=16, outputs=32, kernel=3, padding=1)
    print(cost.cycles, cost.mac_per_cycle)

Fields are those of `dory cost` (docs/cost.md); a kernel, stride or padding is a number, a tuple or a text such as "3x1".
"""
import ctypes
import os

TEXT_BYTES = 256


class Impossible(Exception):
    """The layer cannot run on the machine; the text says why."""


class _Layer(ctypes.Structure):
    _fields_ = [("words", ctypes.c_uint32 * 25)]


class Cost(ctypes.Structure):
    """Members as in dory/cost.h."""
    _fields_ = ([(name, ctypes.c_uint64) for name in ("cycles", "kernel_cycles", "l3_cycles", "macs", "l3_bytes", "l2_bytes")]
                + [(name, ctypes.c_uint32) for name in ("l1_bytes", "tile_rows", "tile_columns", "tile_channels",
                                                        "tile_input_channels", "tile_count")]
                + [("kernel_bytes", ctypes.c_char * 64), ("reason_bytes", ctypes.c_char * TEXT_BYTES)])

    @property
    def kernel(self):
        return self.kernel_bytes.decode()

    @property
    def mac_per_cycle(self):
        return self.macs / self.cycles


def _library(path):
    here = os.path.dirname(os.path.abspath(__file__))
    installed = os.path.join(here, "..", "..", "..", "lib", "dory", "cost", "libdory_cost.so.0")
    path = path or os.environ.get("DORY_COST_LIBRARY") or (installed if os.path.exists(installed) else "libdory_cost.so.0")
    library = ctypes.CDLL(path)
    text, size = ctypes.c_char_p, ctypes.c_size_t
    library.dory_cost_open.argtypes, library.dory_cost_open.restype = [text, text, size], ctypes.c_void_p
    library.dory_cost_close.argtypes, library.dory_cost_close.restype = [ctypes.c_void_p], None
    library.dory_cost_layer_start.argtypes, library.dory_cost_layer_start.restype = [ctypes.POINTER(_Layer)], None
    library.dory_cost_layer_set.argtypes = [ctypes.POINTER(_Layer), text, text, text, size]
    library.dory_cost_layer_set.restype = ctypes.c_bool
    library.dory_cost_of.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Layer), ctypes.c_int, ctypes.POINTER(Cost)]
    library.dory_cost_of.restype = ctypes.c_bool
    return library


def _text(value):
    if isinstance(value, bool):
        return str(value).lower()
    return "x".join(str(part) for part in value) if isinstance(value, (tuple, list)) else str(value)


class Model:
    """A machine: host, virt, gap8 or the path of a description FILE.json. Threads may share it."""

    def __init__(self, target="gap8", library=None):
        self._handle = None
        self._library = _library(library)
        message = ctypes.create_string_buffer(TEXT_BYTES)
        self._handle = self._library.dory_cost_open(os.fsencode(target), message, TEXT_BYTES)
        if not self._handle:
            raise ValueError(message.value.decode())

    def __del__(self):
        if self._handle:
            self._library.dory_cost_close(self._handle)

    def cost(self, fast=False, **fields):
        """A Cost. ValueError: a field that is none, or a value that it cannot have. Impossible: the layer cannot run."""
        layer, cost = _Layer(), Cost()
        message = ctypes.create_string_buffer(TEXT_BYTES)
        self._library.dory_cost_layer_start(layer)
        for field, value in fields.items():
            if not self._library.dory_cost_layer_set(layer, field.encode(), _text(value).encode(), message, TEXT_BYTES):
                raise ValueError(message.value.decode())
        if not self._library.dory_cost_of(self._handle, layer, int(fast), cost):
            raise Impossible(cost.reason_bytes.decode())
        return cost
