#!/usr/bin/env python3
"""clang-tidy over sources, as many at a time as there are cores: each once for what the preprocessor makes of it.

usage: scripts/tidy.py BUILD_FOLDER SOURCE...      the folder has a compile_commands.json
A source that several targets compile alike is looked at once. What had no finding leaves an empty file in BUILD_FOLDER/tidy
whose name says what was looked at: text, checks and clang-tidy. While they are the same, it is not looked at again."""
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
import threading

# The analyser gives a function up after so many states of its paths. By itself it takes 225,000, for three times the time; every finding
# that this tree has had to mend shows within these.
CONFIG = ["-Xclang", "-analyzer-config", "-Xclang", "max-nodes=50000"]

looked_at, lock = set(), threading.Lock()


def flags_of(entry):
    """What a compiler is told about a source besides its name, its output and its dependencies."""
    words = iter(shlex.split(entry["command"]))
    flags = []
    for word in words:
        if word in ("-o", "-MF", "-MT", "-c"):
            next(words)
        elif word.startswith("-") and word not in ("-MD", "-MMD"):
            flags += [word, next(words)] if word in ("-isystem", "-include", "-I", "-D") else [word]
    return entry["directory"], tuple(flags)


def all_flags(database, source):
    """Of each target that compiles the source; of one that none compiles here, such as another chip's, its neighbour's."""
    own = {flags_of(entry) for entry in database if entry["file"] == source}
    nearest = max(database, key=lambda entry: len(os.path.commonprefix([entry["file"], source])))
    return sorted(own) or [flags_of(nearest)]


def look(source, directory, flags, common, done):
    """clang-tidy's output and status; a source that cannot be preprocessed is left to it to complain about."""
    text = subprocess.run(["clang", "-E", "-P", "-C", *flags, source], cwd=directory, capture_output=True).stdout
    key = hashlib.sha256(common + repr(CONFIG).encode() + source.encode() + b"\0" + text).hexdigest()
    with lock:
        if key in looked_at or os.path.exists(os.path.join(done, key)):
            return "", 0
        looked_at.add(key)
    run = subprocess.run(["clang-tidy", "--quiet", source, "--", *flags, *CONFIG], cwd=directory, capture_output=True, text=True)
    if run.returncode == 0:
        open(os.path.join(done, key), "w").close()
    return run.stdout + (run.stderr if run.returncode else ""), run.returncode


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: scripts/tidy.py BUILD_FOLDER SOURCE...")
    folder, *sources = map(os.path.abspath, sys.argv[1:])
    missing = [source for source in sources if not os.path.exists(source)]
    if missing:
        sys.exit(f"scripts/tidy.py: there is no {missing[0]}")
    try:
        database = json.load(open(os.path.join(folder, "compile_commands.json")))
    except OSError as error:
        sys.exit(f"scripts/tidy.py: {error}: configure it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    done = os.path.join(folder, "tidy")
    os.makedirs(done, exist_ok=True)
    common = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    common += open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".clang-tidy"), "rb").read()
    sources.sort(key=os.path.getsize, reverse=True)  # no core waits for the other one at the end
    status = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [pool.submit(look, source, directory, flags, common, done)
                for source in sources for directory, flags in all_flags(database, source)]
        for job in concurrent.futures.as_completed(jobs):
            output, failed = job.result()
            print(output, end="", flush=True)
            status = status or int(failed != 0)
    sys.exit(status)


main()
