#!/usr/bin/env python3
"""What dory and the scripts write to a terminal (a pty), and what to a pipe."""
import argparse
import os
import pty
import re
import subprocess
import sys
import tempfile

ESCAPE = '\033['
failures = 0


def environment(changes):
    kept = {name: value for name, value in os.environ.items() if name not in ('NO_COLOR', 'TERM')}
    return {**kept, 'TERM': 'xterm', **changes}


def on_terminal(command, **changes):
    """All that the command writes, standard output and standard error being one terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=environment(changes))
    os.close(slave)
    written = b''
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # the last writer is gone
            break
        if not piece:
            break
        written += piece
    process.wait()
    os.close(master)
    return written.decode()


def in_pipe(command, **changes):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment(changes)).stdout.decode()


def check(condition, what, text):
    global failures
    if not condition:
        failures += 1
        print('FAILED: %s: %r' % (what, text))


def test_colours(dory, folder):
    broken = os.path.join(folder, 'broken.onnx')
    with open(broken, 'w') as file:
        file.write('no model')
    command = [dory, 'inspect', broken]
    seen = on_terminal(command)
    check('\033[1;31merror\033[0m: ' in seen, 'errors are red', seen)
    for what, seen in (('a pipe', in_pipe(command)), ('NO_COLOR', on_terminal(command, NO_COLOR='1')),
                       ('a dumb terminal', on_terminal(command, TERM='dumb'))):
        check(ESCAPE not in seen and 'error: ' in seen, 'no colour for ' + what, seen)
    seen = on_terminal(command, NO_COLOR='')
    check(ESCAPE in seen, 'an empty NO_COLOR says nothing', seen)


def test_progress(program):
    seen = on_terminal([program])
    check(re.search('\r\033\\[Kdory: slow [3-9]/10', seen), 'a slow step shows how far it is', seen)
    check('quick' not in seen, 'a quick step does not flicker', seen)
    check(seen.endswith('\r\033[Kresult\r\n'), 'the line is wiped', seen)
    seen = in_pipe([program])
    check(seen == 'result\n', 'no progress in a pipe', seen)
    check(on_terminal([program], TERM='dumb') == 'result\r\n', 'no progress on a dumb terminal', '')
    seen = on_terminal([program, 'quiet'])
    check(seen == 'result\r\n', 'quiet', seen)
    seen = in_pipe([program, 'verbose'])
    check('dory: quick: 0.00 s\ndory: slow: ' in seen and ESCAPE not in seen, 'verbose tells the steps to a log', seen)


def test_verbosity(dory, source, folder):
    command = [dory, 'generate', os.path.join(source, 'apps/digits/digits.onnx'), '--check', 'golden', '--output-dir', folder]
    seen = in_pipe(command)
    check(': note: ' in seen, 'notes', seen)
    seen = in_pipe(command + ['--quiet'])
    check(seen == '', 'quiet has no notes', seen)
    seen = in_pipe(command[:1] + ['--verbose'] + command[1:])
    check('dory: plan: ' in seen and 'dory: write: ' in seen, 'verbose names the passes', seen)


def script(source, text, *options):
    """A script that sources scripts/common.sh, run with the options."""
    return ['bash', '-c', 'set -euo pipefail\nsource %s/scripts/common.sh\n%s' % (source, text), 'test', *options]


def test_scripts(source):
    build = 'quietly building sh -c \'echo "[3/7] Linking"; sleep 0.6\'\nnote remark\nsay result'
    seen = on_terminal(script(source, build))
    check('\r\033[Kbuilding ... [3/7]' in seen and '\r\033[Kbuilding ... done\r\n' in seen, 'how far ninja is', seen)
    seen = in_pipe(script(source, build))
    check(seen == 'remark\nresult\n', 'silence in a log', seen)
    for run in (in_pipe, on_terminal):
        seen = run(script(source, build, '--quiet')).replace('\r', '')
        check(seen == 'result\n', 'quiet', seen)
        check('[3/7] Linking' in run(script(source, build, '--verbose')), 'verbose', '')
    seen = in_pipe(script(source, 'quietly building sh -c "echo reason; exit 3"\nsay further'))
    check('reason' in seen and 'building failed' in seen and 'further' not in seen, 'a failure is told', seen)
    seen = on_terminal(script(source, 'quietly building sh -c "echo reason; exit 3"\nsay further'))
    check('building ... failed' in seen and 'reason' in seen and 'further' not in seen, 'on a terminal, too', seen)


def test_painted_lines(source):
    lines = 'printf "layer 0 a: exact (3 values)\\nlayer 1 b: differs at (0, 0, 0)\\n" | paint'
    seen = on_terminal(script(source, lines))
    check('\033[32mexact\033[0m' in seen and '\033[1;31mdiffers\033[0m' in seen, 'verdicts have colours', seen)
    for seen in in_pipe(script(source, lines)), on_terminal(script(source, lines), NO_COLOR='1'):
        check(ESCAPE not in seen and ': exact (3' in seen, 'no colours', seen)


def main():
    parser = argparse.ArgumentParser()
    for option in '--dory', '--slow-steps', '--source':
        parser.add_argument(option, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        test_colours(arguments.dory, folder)
        test_verbosity(arguments.dory, arguments.source, folder)
    test_progress(arguments.slow_steps)
    test_scripts(arguments.source)
    test_painted_lines(arguments.source)
    return failures != 0


sys.exit(main())
