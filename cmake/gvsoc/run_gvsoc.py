#!/usr/bin/env python3
"""Runs a GAP8 ELF file on gvsoc: boots it from a HyperFlash image, passes its text on, ends with its status.

gapy makes the flash image and gvsoc's configuration; this script puts the ELF file's section "dory_flash" (the weight
images, see hal/pulp/pulp.ld) into the flash image, sets the bandwidth of the AXI routers and the size of the instruction
caches as the chip has them, and starts gvsoc_launcher.
With --prepared, gapy makes the configuration once: it is the same for all programs, and takes longer than many of them.

With --test instead of an ELF file it runs a program of a few instructions that it makes itself: does this gvsoc work?

Exit status: the low 8 bits of the program's; 77 where gvsoc has no model of a device that is asked for; 124 on --timeout; 125 when it could
not be prepared; 128 + n when gvsoc died of signal n."""
import argparse
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

PREPARATION_FAILED = 125
TIMED_OUT = 124
NO_DEVICE = 77
CAMERA_WIDTH, CAMERA_HEIGHT = 324, 244
FLASH_SECTION = 'dory_flash'
FLASH_WINDOW = 0x20000000  # the section's address minus this is its place in the flash
BLOCK = 1024  # of a boot image; the ROM loads whole ones
# Instruction caches of the chip by GreenWaves' manual of GAP8 ("GAP8 memory areas"); gvsoc generates a quarter of each.
CLUSTER_CACHE_BYTES, CONTROLLER_CACHE_BYTES = 16384, 4096

# Where the parts of gvsoc are below --root: in an installation of its own, or in gap_sdk.
PLACES = {
    'launcher': ['bin/gvsoc_launcher', 'install/workstation/bin/gvsoc_launcher'],
    'gapy': ['gapy/gapy', 'bin/gapy', 'utils/gapy/gapy', 'tools/gapy/gapy'],
    'models': ['python', 'install/workstation/python'],
    'libraries': ['lib', 'install/workstation/lib'],
    'configs': ['gap_configs/configs', 'configs', 'install/workstation/configs', 'utils/gap_configs/configs'],
    'generators': ['generators', 'install/workstation/generators', 'gvsoc/gvsoc/generators'],
    'config_python': ['gap_configs/python', 'utils/gap_configs/python', 'python', 'install/workstation/python'],
}
# Modules that gapy imports, and the Debian packages that have them.
GAPY_MODULES = {'argcomplete': 'python3-argcomplete', 'elftools': 'python3-pyelftools', 'six': 'python3-six'}
# Of gapy's modules, what newer Pythons have no longer.
OWN_MODULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'python')
CONFIG_MARK = 'chips'  # a folder of gap_sdk is called configs too; the one that counts has this in it


class Failure(Exception):
    def __init__(self, text, status=PREPARATION_FAILED):
        super().__init__(text)
        self.status = status


def find_parts(root):
    """Absolute path of each part. gap_sdk's launcher may have been found as install/workstation/bin/gvsoc_launcher."""
    roots = [root, os.path.dirname(os.path.dirname(root))]
    parts = {}
    for part, places in PLACES.items():
        found = [os.path.join(r, place) for r in roots for place in places if os.path.exists(os.path.join(r, place))]
        if part == 'configs':
            found = [path for path in found if os.path.exists(os.path.join(path, CONFIG_MARK))] or found
        if not found:
            raise Failure('no %s of gvsoc below %s (looked for %s)' % (part, root, ', '.join(places)))
        parts[part] = found[0]
    return parts


def lacks(python, *modules):
    return subprocess.call([python, '-c', 'import ' + ', '.join(modules)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) != 0


def interpreter():
    """gapy needs modules that often only one of the installed Pythons has."""
    candidates = [sys.executable] + [os.path.join(folder, 'python3') for folder in os.environ.get('PATH', '').split(':') + ['/usr/bin']]
    for candidate in candidates:
        if os.access(candidate, os.X_OK) and not lacks(candidate, *GAPY_MODULES):
            return candidate
    raise Failure('no python3 on the PATH has the modules that gapy, a part of gvsoc, needs (%s); on Debian: apt install %s'
                  % (', '.join(GAPY_MODULES), ' '.join(GAPY_MODULES.values())))


def environment(root, parts, python_modules=()):
    """What gap_sdk's sourceme.sh would set, for this one process."""
    kept = {name: value for name, value in os.environ.items() if name in ('HOME', 'TMPDIR', 'LANG', 'TERM', 'USER')}
    path = [os.path.dirname(parts['launcher']), os.path.dirname(parts['gapy']), '/usr/bin', '/bin']
    python = [os.path.dirname(parts['gapy']), parts['config_python'], parts['generators'], parts['models'], *python_modules]
    return dict(kept, PATH=':'.join(path), PYTHONPATH=':'.join(python), PYTHONWARNINGS='ignore', PYTHONDONTWRITEBYTECODE='1',
                LD_LIBRARY_PATH=parts['libraries'], GVSOC_PATH=parts['models'], PULP_CONFIGS_PATH=parts['configs'],
                INSTALL_DIR=os.path.dirname(os.path.dirname(parts['launcher'])), GAP_SDK_HOME=root,
                TARGET_CHIP='GAP8_V3', TARGET_CHIP_FAMILY='GAP8', TARGET_NAME='gap8_revc', BOARD_NAME='gapuino')


def elf_section(path, name):
    """(address, content) of a section of a 32-bit little-endian ELF file, or None."""
    with open(path, 'rb') as file:
        data = file.read()
    if data[:6] != b'\x7fELF\x01\x01':
        raise Failure('%s is no 32-bit little-endian ELF file' % path)
    table, = struct.unpack_from('<I', data, 0x20)
    size, count, names_index = struct.unpack_from('<HHH', data, 0x2E)
    headers = [struct.unpack_from('<10I', data, table + i * size) for i in range(count)]
    names = headers[names_index][4]
    for header in headers:
        start = names + header[0]
        if data[start:data.index(b'\0', start)].decode() == name:
            return header[3], data[header[4]:header[4] + header[5]]
    return None


def load_segments(path):
    """(entry, [(address, bytes)]) of what is loaded; bytes are none where there is but memory."""
    with open(path, 'rb') as file:
        data = file.read()
    if data[:6] != b'\x7fELF\x01\x01':
        raise Failure('%s is no 32-bit little-endian ELF file' % path)
    entry, table = struct.unpack_from('<II', data, 0x18)
    size, count = struct.unpack_from('<HH', data, 0x2A)
    segments = []
    for index in range(count):
        kind, offset, _, address, file_bytes = struct.unpack_from('<5I', data, table + index * size)
        if kind == 1:
            segments.append((address, data[offset:offset + file_bytes]))
    return entry, segments


def blocks(count):
    return (count + BLOCK - 1) // BLOCK


def boot_image(entry, segments):
    """What the ROM loads. Four words: bytes in all, segments, entry, base of the interrupt vectors; four words a segment: where it is
    here, where it goes, bytes, blocks; the segments at blocks' starts."""
    table, body = b'', b''
    for address, content in segments:
        table += struct.pack('<4I', BLOCK + len(body), address, len(content), blocks(len(content)))
        body += content.ljust(blocks(len(content)) * BLOCK, b'\xff')
    header = struct.pack('<4I', BLOCK + len(body), len(segments), entry, L2)
    return (header + table).ljust(BLOCK, b'\xff') + body


TEST_TEXT = 'gvsoc works\n'
STDOUT, SOC_CONTROL, CORE_STATUS, L2 = 0x1A111000, 0x1A104000, 0xA0, 0x1C000000  # of the fabric controller


def test_program():
    """Machine code for --test: writes TEST_TEXT to the simulator's standard output and ends with status 0."""
    a0, a1 = 10, 11

    def load_upper(register, value):
        return value & 0xFFFFF000 | register << 7 | 0x37

    def load_character(register, character):
        return ord(character) << 20 | register << 7 | 0x13

    def store(register, base, offset):
        return (offset >> 5) << 25 | register << 20 | base << 15 | 2 << 12 | (offset & 31) << 7 | 0x23

    code = [load_upper(a0, STDOUT)]
    for character in TEST_TEXT:
        code += [load_character(a1, character), store(a1, a0, 0)]
    code += [load_upper(a0, SOC_CONTROL), load_upper(a1, 0x80000000), store(a1, a0, CORE_STATUS), 0x6F]  # and a jump to itself
    return struct.pack('<%dI' % len(code), *code)


def write_test_elf(path):
    code, names = test_program(), b'\0.text\0.shstrtab\0'
    start = 0x1000  # of the segment in the file and, but for its base, in L2
    at_names = start + len(code)
    at_sections = (at_names + len(names) + 3) // 4 * 4
    header = b'\x7fELF\x01\x01\x01' + bytes(9) + struct.pack(
        '<HHIIIIIHHHHHH', 2, 243, 1, L2 + start, 52, at_sections, 0, 52, 32, 1, 40, 3, 2)
    segment = struct.pack('<8I', 1, start, L2 + start, L2 + start, len(code), len(code), 5, 0x1000)
    sections = bytes(40) + struct.pack('<10I', 1, 1, 6, L2 + start, start, len(code), 0, 0, 4, 0)
    sections += struct.pack('<10I', 7, 3, 0, 0, at_names, len(names), 0, 0, 1, 0)
    with open(path, 'wb') as file:
        file.write((header + segment).ljust(start, b'\0') + code + names.ljust(at_sections - at_names, b'\0') + sections)


def flash_contents(arguments):
    """[(offset in flash, bytes)]: the program's own images and those of the command line."""
    contents = []
    section = elf_section(arguments.elf, FLASH_SECTION)
    if section and section[1]:
        contents.append((section[0] - FLASH_WINDOW, section[1]))
    for specification in arguments.flash_data:
        path, separator, offset = specification.rpartition('@')
        if not separator:
            raise Failure('--flash-data %s is not FILE@OFFSET' % specification)
        with open(path, 'rb') as file:
            contents.append((int(offset, 0), file.read()))
    return contents


def write_flash(image, limit, contents):
    boot_bytes = os.path.getsize(image)
    with open(image, 'r+b') as file:
        for offset, data in contents:
            if offset < boot_bytes:
                raise Failure('flash data at 0x%x overlaps the boot image of 0x%x bytes' % (offset, boot_bytes))
            if offset + len(data) > limit:
                raise Failure('flash data at 0x%x does not fit in the flash of 0x%x bytes' % (offset, limit))
            file.seek(offset)
            file.write(data)


def connect_camera(board, pictures, hertz):
    """The camera of gapy's board is two models here: the picture's comes from gvsoc's own, which reads files but answers no I2C; its
    registers are those of the board's, which shows no pictures unless it was built with ImageMagick. The I2C is that of an AI-deck."""
    board['pictures'] = {'vp_component': 'devices.camera.himax', 'vp_ports': ['clock', 'cpi', 'i2c'], 'image-stream': pictures,
                         'color-mode': 'gray', 'width': CAMERA_WIDTH, 'height': CAMERA_HEIGHT, 'pixel-size': 0, 'vsync-polarity': 1,
                         'hsync-polarity': 1, 'endianness': 'little'}
    board['pictures_clock'] = {'vp_component': 'vp.clock_domain_impl', 'vp_ports': ['out'], 'frequency': 2 * hertz}
    board['vp_comps'] += ['pictures', 'pictures_clock']
    board['vp_bindings'] += [['pictures_clock->out', 'pictures->clock'], ['pictures->cpi', 'chip->cpi0']]


def move_i2c(board):
    """What gapy's board has at I2C 1 to I2C 0."""
    board['vp_bindings'] = [['chip->i2c0', to] if source == 'chip->i2c1' else [source, to] for source, to in board['vp_bindings']]


def put_memory_at_i2c(board):
    board['camera'].update(module='eeprom.so', mem_size=65536, vp_ports=['i2c'])
    for name, binding in (('tb_bindings', ['camera->cpi', 'chip->cpi0']), ('vp_bindings', ['dpi->cpi0', 'chip->cpi0_pad'])):
        board[name] = [other for other in board[name] if other != binding]


def check_pictures(pattern, parts):
    """gvsoc dies without a sentence of a picture that is not there, and stops at one that is too short."""
    if not os.path.exists(os.path.join(parts['models'], 'devices', 'camera', 'himax.so')):
        raise Failure('this gvsoc has no model of the camera HM01B0 (%s/devices/camera/himax.so)' % parts['models'], NO_DEVICE)
    if not pattern.endswith('.raw') or pattern.count('%') != pattern.count('%d'):
        raise Failure('--camera %s: a name that ends in .raw, with %%d for 0, 1, 2, ... if there are several' % pattern)
    first = pattern.replace('%d', '0')
    if not os.path.exists(first) or os.path.getsize(first) != CAMERA_WIDTH * CAMERA_HEIGHT:
        raise Failure('--camera %s: %s must have %d bytes, %d x %d grey pixels'
                      % (pattern, first, CAMERA_WIDTH * CAMERA_HEIGHT, CAMERA_WIDTH, CAMERA_HEIGHT))


PEER = 'cpx_peer'


def connect_cpx_peer(board, stream):
    """The ESP32 of an AI-deck at SPI 1, where gapy's board has a display, and at GPIO 3 and 18."""
    board['cpx_peer'] = {'vp_component': PEER, 'vp_ports': ['clock', 'input', 'cs', 'gap8_ready', 'esp32_ready'], 'stream': stream or ''}
    board['cpx_peer_clock'] = {'vp_component': 'vp.clock_domain_impl', 'vp_ports': ['out'], 'frequency': 1000000}
    board['vp_comps'] += ['cpx_peer', 'cpx_peer_clock']
    for name in ('vp_bindings', 'tb_bindings'):
        board[name] = [other for other in board[name] if other[0] not in ('chip->spim1_cs0_data', 'chip->spim1_cs0')]
    board['vp_bindings'] += [['cpx_peer_clock->out', 'cpx_peer->clock'], ['chip->spim1_cs0_data', 'cpx_peer->input'],
                             ['chip->spim1_cs0', 'cpx_peer->cs'], ['chip->gpio3', 'cpx_peer->gap8_ready'],
                             ['chip->gpio18', 'cpx_peer->esp32_ready']]


def build_cpx_peer(parts, folder):
    """Our model, compiled against this gvsoc's headers, and beside it links to gvsoc's own: it looks for all of them in one folder.
    Returns that folder."""
    models, include = os.path.join(folder, 'models'), os.path.join(os.path.dirname(parts['models']), 'include')
    if not os.path.exists(os.path.join(include, 'vp', 'itf', 'qspim.hpp')) or not shutil.which('g++'):
        raise Failure('--cpx compiles a model of the ESP32, for which there must be g++ and the headers of gvsoc (%s/vp)' % include, NO_DEVICE)
    os.makedirs(models, exist_ok=True)
    for name in os.listdir(parts['models']):
        if not os.path.lexists(os.path.join(models, name)):
            os.symlink(os.path.join(parts['models'], name), os.path.join(models, name))
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), PEER + '.cpp')
    result = subprocess.run(['g++', '-O2', '-fPIC', '-shared', '-std=c++11', '-I' + include, source, '-o', os.path.join(models, PEER + '.so')],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
    if result.returncode:
        raise Failure('the model of the ESP32 cannot be compiled:\n' + result.stdout)
    return models


CONFIG, FUSES = 'gvsoc_config.json', 'efuse_preload.data'  # what gapy makes besides the flash image
WORK_MARK, ELF_MARK = '@work@', '@elf@'


def run_gapy(root, parts, elf, work):
    python = interpreter()
    modules = [OWN_MODULES] if lacks(python, 'imp') else []
    command = [python, parts['gapy'], '--target=gapuino_v3', '--platform=gvsoc', '--work-dir=' + work,
               'run', '--binary=' + elf, '--image', '--exec-prepare']
    result = subprocess.run(command, cwd=work, env=environment(root, parts, modules), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
    if result.returncode or not os.path.exists(os.path.join(work, CONFIG)):
        raise Failure('gapy could not prepare %s:\n%s' % (elf, result.stdout))


def copy_text(source, destination, replacements):
    with open(source) as file:
        text = file.read()
    for old, new in replacements:
        text = text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])
    with open(destination, 'w') as file:
        file.write(text)


def prepare_once(arguments, parts):
    """The folder of what gapy makes, with marks for paths, below that of --prepared. Another gvsoc has another."""
    identity = [arguments.root] + ['%s %d' % (part, os.stat(part).st_mtime_ns) for part in sorted(parts.values())]
    folder = os.path.join(arguments.prepared, hashlib.sha256('\n'.join(identity).encode()).hexdigest()[:16])
    if os.path.exists(folder):
        return folder
    os.makedirs(arguments.prepared, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.prepared) as work:
        elf, ready = os.path.join(work, 'test.elf'), os.path.join(work, 'ready')
        write_test_elf(elf)
        run_gapy(arguments.root, parts, elf, work)
        os.mkdir(ready)
        copy_text(os.path.join(work, CONFIG), os.path.join(ready, CONFIG), [(elf, ELF_MARK), (work, WORK_MARK)])
        shutil.copyfile(os.path.join(work, FUSES), os.path.join(ready, FUSES))
        try:
            os.rename(ready, folder)
        except OSError:
            if not os.path.exists(folder):  # else another process was here before
                raise
    return folder


def use_prepared(folder, elf, work):
    copy_text(os.path.join(folder, CONFIG), os.path.join(work, CONFIG), [(ELF_MARK, elf), (WORK_MARK, work)])
    shutil.copyfile(os.path.join(folder, FUSES), os.path.join(work, FUSES))


def resize_cache(cache, cache_bytes):
    """By the number of sets; lines and ways stay."""
    cache['nb_sets_bits'] = cache_bytes.bit_length() - 1 - cache['nb_ways_bits'] - cache['line_size_bits']


def prepare(arguments, parts, work):
    """Returns the path of gvsoc's configuration, ready to run."""
    if arguments.prepared:
        use_prepared(prepare_once(arguments, parts), arguments.elf, work)
    else:
        run_gapy(arguments.root, parts, arguments.elf, work)
    path = os.path.join(work, CONFIG)
    with open(path) as file:
        config = json.load(file)
    board = config['target']['system_tree']['board']
    chip = board['chip']
    for router in (chip['cluster']['cluster_ico'], chip['soc']['axi_ico'], chip['soc']['soc_ico']['ll_ico']):
        router['bandwidth'] = arguments.axi_bytes
    if arguments.caches == 'chip':
        resize_cache(chip['cluster']['icache'], CLUSTER_CACHE_BYTES)
        resize_cache(chip['soc']['fc_icache'], CONTROLLER_CACHE_BYTES)
    if arguments.camera:
        connect_camera(board, arguments.camera, arguments.camera_hertz)
    if arguments.i2c_memory:
        put_memory_at_i2c(board)
    if arguments.camera or arguments.i2c_memory:
        move_i2c(board)
    if arguments.cpx:
        connect_cpx_peer(board, arguments.cpx_stream)
    with open(path, 'w') as file:
        json.dump(config, file, indent=1)
    flash = board['flash']
    if arguments.flash_image:
        shutil.copyfile(arguments.flash_image, flash['content']['image'])
        return path
    if arguments.prepared:  # gapy's has a checksum and an empty table of partitions, too, which nobody reads
        with open(flash['content']['image'], 'wb') as file:
            file.write(boot_image(*load_segments(arguments.elf)))
    write_flash(flash['content']['image'], int(flash['size'], 0), flash_contents(arguments))
    return path


def run_launcher(launcher, config, work, variables, timeout):
    # gvsoc's C library gathers 4 KiB of text where standard output is no terminal: a log would stay empty for minutes.
    line_by_line = ['stdbuf', '-oL'] if shutil.which('stdbuf') else []
    process = subprocess.Popen(line_by_line + [launcher, '--config=' + config], cwd=work, env=variables)
    try:
        status = process.wait(timeout)
    except subprocess.TimeoutExpired:
        print('gvsoc: stopped after %g seconds' % timeout, file=sys.stderr)
        return TIMED_OUT
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return status if status >= 0 else 128 - status


def parse():
    parser = argparse.ArgumentParser(prog='run_gvsoc', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('elf', metavar='ELF', nargs='?')
    parser.add_argument('--test', action='store_true', help='run a program of its own that takes a second')
    parser.add_argument('--root', required=True, help='where gvsoc is installed')
    parser.add_argument('--axi-bytes', type=int, choices=(4, 8), default=8,
                        help='bytes a cycle of the AXI routers: 8 as on the chip (default), 4 as gvsoc generates them')
    parser.add_argument('--caches', choices=('chip', 'gvsoc'), default='chip',
                        help='instruction caches of cluster and controller: 16 and 4 KiB as on the chip (default), 4 and 1 KiB as '
                        'gvsoc generates them')
    parser.add_argument('--flash-data', action='append', default=[], metavar='FILE@OFFSET', help='further flash content; repeatable')
    parser.add_argument('--flash-image', metavar='FILE', help='content of the flash, boot image and all (flash_image.py makes it)')
    parser.add_argument('--camera', metavar='FILE.raw', help='what the camera HM01B0 sees, %d x %d bytes a picture; with %%%%d in the name '
                        'there are several, numbered from 0, shown in a circle. Connected to CPI and I2C 0, as on an AI-deck'
                        % (CAMERA_WIDTH, CAMERA_HEIGHT))
    parser.add_argument('--camera-hertz', type=int, default=6000000, help='its pixel clock (default: 6000000, that of its oscillator)')
    parser.add_argument('--i2c-memory', action='store_true', help='at I2C 0 a memory of 64 KiB, instead of a camera')
    parser.add_argument('--cpx', action='store_true', help='at SPI 1 and GPIO 3 and 18 a model of the AI-deck\'s ESP32, which is compiled here')
    parser.add_argument('--cpx-stream', metavar='FILE', help='with --cpx: a PC is connected by Wi-Fi, and what is sent to it goes to this file')
    parser.add_argument('--work-dir', metavar='DIR', help='keep flash image and configuration here (default: a temporary folder)')
    parser.add_argument('--prepared', metavar='DIR', help='have gapy prepare gvsoc once, and keep here what it made, for all programs')
    parser.add_argument('--timeout', type=float, metavar='SECONDS', help='of wall time')
    arguments = parser.parse_args()
    if bool(arguments.elf) == arguments.test:
        parser.error('either an ELF file or --test')
    arguments.elf = os.path.abspath(arguments.elf) if arguments.elf else None
    arguments.root = os.path.abspath(arguments.root)
    arguments.prepared = os.path.abspath(arguments.prepared) if arguments.prepared else None
    if arguments.cpx_stream and not arguments.cpx:
        parser.error('--cpx-stream without --cpx')
    arguments.cpx_stream = os.path.abspath(arguments.cpx_stream) if arguments.cpx_stream else None
    arguments.camera = os.path.abspath(arguments.camera) if arguments.camera else None
    return arguments


def main():
    arguments = parse()
    work = os.path.abspath(arguments.work_dir or tempfile.mkdtemp(prefix='run_gvsoc.'))
    try:
        os.makedirs(work, exist_ok=True)
        parts = find_parts(arguments.root)
        if arguments.camera:
            check_pictures(arguments.camera, parts)
        if arguments.i2c_memory and not os.path.exists(os.path.join(parts['libraries'], 'eeprom.so')):
            raise Failure('this gvsoc has no model of an I2C memory (%s/eeprom.so)' % parts['libraries'], NO_DEVICE)
        if arguments.test:
            arguments.elf = os.path.join(work, 'test.elf')
            write_test_elf(arguments.elf)
        models = build_cpx_peer(parts, work) if arguments.cpx else parts['models']
        variables = dict(environment(arguments.root, parts), GVSOC_PATH=models)
        return run_launcher(parts['launcher'], prepare(arguments, parts, work), work, variables, arguments.timeout)
    except (Failure, OSError, ValueError, KeyError) as failure:
        print('run_gvsoc: %s' % failure, file=sys.stderr)
        return getattr(failure, 'status', PREPARATION_FAILED)
    finally:
        if not arguments.work_dir:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
