#!/usr/bin/env python3
"""Runs an ELF file for a chip of the maintained gvsoc, such as Siracusa: passes its text on, ends with its status.

gapy, a part of gvsoc, makes the configuration; this script puts the ELF file's section "dory_flash" (the weight images, see
hal/pulp/pulp.ld) into a file that is the HyperFlash, and starts gvsoc_launcher. gapy needs modules that Debian's Python lacks: an
environment of Python in ROOT/venv is tried first, then each python3 of the PATH.

Exit status: the low 8 bits of the program's; 124 on --timeout; 125 when it could not be prepared; 128 + n when gvsoc died of signal n."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # beside the script, in an installation

from run_gvsoc import Failure, flash_contents, run_launcher, PREPARATION_FAILED

FLASH_FILE, FLASH_BYTES = 'hyperflash.bin', 64 << 20
CONFIG = 'gvsoc_config.json'


def environment(root):
    kept = {name: value for name, value in os.environ.items() if name in ('HOME', 'TMPDIR', 'LANG', 'TERM', 'USER')}
    return dict(kept, PATH=os.path.join(root, 'bin') + ':/usr/bin:/bin', PYTHONPATH=os.path.join(root, 'python'), PYTHONDONTWRITEBYTECODE='1',
                LD_LIBRARY_PATH=os.path.join(root, 'lib'))


def interpreters(root):
    folders = [os.path.join(root, 'venv', 'bin')] + os.environ.get('PATH', '').split(':') + ['/usr/bin']
    found = [os.path.join(folder, 'python3') for folder in folders if os.access(os.path.join(folder, 'python3'), os.X_OK)]
    return list(dict.fromkeys(found))


def run_gapy(root, target, elf, work):
    said = 'there is no python3'
    for python in interpreters(root):
        command = [python, os.path.join(root, 'bin', 'gapy'), '--platform=gvsoc', '--target-dir=' + os.path.join(root, 'generators'),
                   '--model-dir=' + os.path.join(root, 'models'), '--target=' + target, '--work-dir=' + work, '--binary=' + elf, 'prepare']
        result = subprocess.run(command, cwd=work, env=environment(root), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors='replace')
        if result.returncode == 0 and os.path.exists(os.path.join(work, CONFIG)):
            return
        said = result.stdout
    raise Failure('gapy could not prepare %s; what it needs of Python is in %s:\n%s' % (elf, 'docs/siracusa.md', said))


def write_flash(path, contents):
    with open(path, 'wb') as file:
        file.truncate(FLASH_BYTES)
        for offset, data in contents:
            if offset + len(data) > FLASH_BYTES:
                raise Failure('flash data at 0x%x does not fit in the flash of 0x%x bytes' % (offset, FLASH_BYTES))
            file.seek(offset)
            file.write(data)


def parse():
    parser = argparse.ArgumentParser(prog='run_pulp', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('elf', metavar='ELF')
    parser.add_argument('--target', default='siracusa', help="gvsoc's name of the chip (default: %(default)s)")
    parser.add_argument('--root', required=True, help='where gvsoc is installed')
    parser.add_argument('--flash-data', action='append', default=[], metavar='FILE@OFFSET', help='further flash content; repeatable')
    parser.add_argument('--work-dir', metavar='DIR', help='keep flash and configuration here (default: a temporary folder)')
    parser.add_argument('--timeout', type=float, metavar='SECONDS', help='of wall time')
    arguments = parser.parse_args()
    arguments.elf, arguments.root = os.path.abspath(arguments.elf), os.path.abspath(arguments.root)
    return arguments


def main():
    arguments = parse()
    work = os.path.abspath(arguments.work_dir or tempfile.mkdtemp(prefix='run_pulp.'))
    try:
        os.makedirs(work, exist_ok=True)
        contents = flash_contents(arguments)
        run_gapy(arguments.root, arguments.target, arguments.elf, work)
        write_flash(os.path.join(work, FLASH_FILE), contents)
        launcher = os.path.join(arguments.root, 'bin', 'gvsoc_launcher')
        return run_launcher(launcher, os.path.join(work, CONFIG), work, environment(arguments.root), arguments.timeout)
    except (Failure, OSError, ValueError) as failure:
        print('run_pulp: %s' % failure, file=sys.stderr)
        return PREPARATION_FAILED
    finally:
        if not arguments.work_dir:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
