"""What gapy, the part of gvsoc that makes flash images, asks of the module imp, which Python has no longer from 3.12 on:
to find a module by its name and to load it. run_gvsoc.py puts this folder on the path of such a Python only."""
import importlib.util
import os
import sys


def find_module(name, path=None):
    """(open file, path name, description) of NAME.py in the folders of `path`, or in those of sys.path. Slashes in a name
    lead into folders, as gapy's generators have them."""
    for folder in sys.path if path is None else path:
        pathname = os.path.join(folder, name + '.py')
        if os.path.isfile(pathname):
            return open(pathname, encoding='utf-8'), pathname, ('.py', 'r', 1)
    raise ImportError('No module named %r' % name, name=name)


def load_module(name, file, pathname, description):
    """Executes a module that find_module found, under a name that need not be the one it was found by, and returns it."""
    spec = importlib.util.spec_from_file_location(name, pathname)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        if file:
            file.close()
    return module
