#!/usr/bin/env python3
"""Does what a document tells its reader to do.

Each fenced block of a document has a comment on the line before it:

    <!-- run -->            a block of sh: executed; its commands must succeed
    <!-- run: SECONDS -->   the same, of more than some seconds: only with --slow
    <!-- fails: STATUS -->  executed; it must end with that exit status
    <!-- file: PATH -->     the block is the content of a file, which is written
    <!-- shown -->          neither: output, or a part of something

A document whose first line is <!-- needs: PROGRAM ... --> is skipped, with exit status 77, where one of the programs is missing.

A sh block without any is an error: a command that nothing tests. Blocks are run in their order, in one folder and one shell
environment, in which the folder dory is a copy of the source tree and HOME is empty.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

PARTS = ["CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "LICENSE", "NOTICE", "README.md", "apps", "boards", "cmake", "docs", "generator", "hal",
         "kernels", "scripts", "tests", "toolchains"]
FENCE = re.compile(r"^```(\w*)\s*$")
DIRECTIVE = re.compile(r"^<!-- (run|fails|file|shown)(?:: (.*?))? -->$")
NEEDS = re.compile(r"^<!-- needs: (.*?) -->$")
SKIPPED = 77


class Block:
    def __init__(self, line, language, directive, text):
        self.line, self.language, self.text = line, language, text
        self.action, self.argument = directive or (None, None)


def read_blocks(path):
    blocks, directive, start, language = [], None, None, None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fence, match = FENCE.match(line), DIRECTIVE.match(line.strip())
            if start is not None and line.startswith("```"):
                blocks.append(Block(start, language, directive, "".join(lines)))
                start = directive = None
            elif start is not None:
                lines.append(line)
            elif fence:
                start, language, lines = number, fence.group(1), []
            elif match:
                directive = match.groups()
            elif line.strip():
                directive = None
    return blocks


def missing_programs(path):
    with open(path, encoding="utf-8") as file:
        needs = NEEDS.match(file.readline().strip())
    return [program for program in needs.group(1).split() if not shutil.which(program)] if needs else []


def copy_tree(source, folder):
    for part in PARTS:
        origin = os.path.join(source, part)
        if os.path.isdir(origin):
            shutil.copytree(origin, os.path.join(folder, part), ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        elif os.path.exists(origin):
            os.makedirs(folder, exist_ok=True)
            shutil.copy2(origin, folder)


def execute(block, work, environment, expected):
    """The shell's folder and variables live on in files: every block is a process of its own."""
    state = os.path.join(work, ".state")
    script = (f"set -e\n[ ! -f {state} ] || . {state}\n{block.text}\n"
              f"{{ export -p; echo \"cd '$PWD'\"; }} > {state}\n")
    result = subprocess.run(["bash", "-c", script], cwd=work, env=environment, stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != expected:
        print(result.stdout)
        print(f"line {block.line}: exit status {result.returncode}, not {expected}:\n{block.text}")
    return result.returncode == expected


def perform(block, work, environment, slow):
    """True, or a word about what is wrong."""
    if block.action == "file":
        path = os.path.join(work, block.argument)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(block.text)
    elif block.action == "run" and (slow or not block.argument):
        return execute(block, work, environment, 0)
    elif block.action == "fails":
        return execute(block, work, environment, int(block.argument))
    elif block.action is None and block.language == "sh":
        print(f"line {block.line}: a block of sh that does not say whether it is run")
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description="Execute the commands of a document.")
    parser.add_argument("document")
    parser.add_argument("--source", required=True, help="source tree; its copy is the folder dory of the work folder")
    parser.add_argument("--work", required=True, help="folder for everything that the document makes; it is emptied")
    parser.add_argument("--path", action="append", default=[], help="folder for the front of the PATH, such as a dory to use")
    parser.add_argument("--slow", action="store_true", help="also the blocks that take long")
    options = parser.parse_args()

    missing = missing_programs(options.document)
    if missing:
        print(f"skipped: {', '.join(missing)} not found")
        sys.exit(SKIPPED)

    work = os.path.abspath(options.work)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "home"))
    copy_tree(options.source, os.path.join(work, "dory"))
    environment = {key: value for key, value in os.environ.items() if key not in ("CC", "CFLAGS", "MAKEFLAGS", "DESTDIR")}
    environment["HOME"] = os.path.join(work, "home")
    environment["PATH"] = os.pathsep.join([os.path.abspath(path) for path in options.path] + [environment["PATH"]])

    blocks = read_blocks(options.document)
    for block in blocks:
        if not perform(block, work, environment, options.slow):
            sys.exit(f"{options.document}: a block failed")
    print(f"{options.document}: {sum(block.action in ('run', 'fails') for block in blocks)} blocks of commands, "
          f"{sum(block.action == 'file' for block in blocks)} files")


if __name__ == "__main__":
    main()
