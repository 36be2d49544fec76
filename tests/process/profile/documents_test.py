#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page and the completions that the build writes: every option of every command is in each, and shells take them."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

GPUPROF, DOCUMENTS = sys.argv[1], pathlib.Path(sys.argv[2])
COMMANDS = ("profile", "stats", "roofline", "analyze", "compare", "sweep", "whatif", "report", "export", "import", "peaks", "metrics", "status")

# Offers all words that completion adds at the end of a line typed into an interactive zsh.
# Arguments: the folder of _gpuprof, a file for the words, the line.
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
ask() { zpty -w shell "$1" }
ask "unsetopt zle_bracketed_paste; fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -D -u"
ask 'compadd() {
  local -a words_added
  if [[ "$*" != *-(O|A|D)\ * ]]; then
    builtin compadd -A words_added "$@"
    for word in $words_added; do print -r -- $IPREFIX$word; done >>'${(q)2}'
  fi
  builtin compadd "$@"
}'
ask 'offers() { _main_complete; compstate[insert]=; print -r "all ""offered" }'
ask 'zle -C offers complete-word offers; bindkey "^I" offers'
zpty -w -n shell "$3"$'\t'
zpty -r shell answer "*all offered*"
zpty -d shell
"""


def help_of(command):
    return subprocess.run([GPUPROF, command, "--help"], capture_output=True, text=True, check=True).stdout


def options_of(command):
    """Long names, as --help lists them."""
    return [name for line in help_of(command).splitlines() for name in re.findall(r"^ +(?:-\w,\s*)?--([a-z][a-z-]+)", line) if name != "help"]


class Documents(unittest.TestCase):
    def text(self, name):
        return (DOCUMENTS / name).read_text()

    def completed(self, *words):
        script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpuprof; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, DOCUMENTS / "gpuprof.bash", *words], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def offered_by_zsh(self, line):
        if not shutil.which("zsh"):
            self.skipTest("there is no zsh: apt-get install zsh")
        with tempfile.TemporaryDirectory() as folder:
            words = pathlib.Path(folder) / "words"
            words.touch()
            done = subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", DOCUMENTS, words, line], capture_output=True, text=True, timeout=300,
                                  env={**os.environ, "HOME": folder})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return sorted(set(words.read_text().splitlines()))

    def offered_by_fish(self, line):
        if not shutil.which("fish"):
            self.skipTest("there is no fish: apt-get install fish")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["fish", "-c", "source $argv[1]; complete -C $argv[2]", DOCUMENTS / "gpuprof.fish", line], capture_output=True,
                                  text=True, timeout=300, env={**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder})
            self.assertEqual(done.stderr, "")
            return sorted(word.split("\t")[0] for word in done.stdout.splitlines())

    def check_what_a_shell_offers(self, offered):
        self.assertEqual(offered("gpuprof st"), ["stats", "status"])
        self.assertEqual(offered("gpuprof --ver"), ["--version"])
        self.assertEqual(offered("gpuprof --lib"), ["--library"])
        self.assertEqual(offered("gpuprof stats --hel"), ["--help"])
        self.assertEqual(offered("gpuprof stats -r nvtx_sum,cuda_gpu_mem"),
                         ["nvtx_sum,cuda_gpu_mem_size_sum", "nvtx_sum,cuda_gpu_mem_time_sum"])
        self.assertEqual(offered("gpuprof profile -t cuda,nv"), ["cuda,nvtx"])
        self.assertEqual(offered("gpuprof profile --capture-range-end re"), ["repeat", "repeat-shutdown:"])
        self.assertEqual(offered("gpuprof roofline -f sv"), ["svg"])
        self.assertEqual(offered("gpuprof peaks --only fp32,tensor_b"), ["fp32,tensor_bf16"])
        self.assertEqual(offered("gpuprof stats --limit "), [])
        self.assertEqual(offered("gpuprof profile -f --ou"), ["--output"])

    def check_that_the_words_behind_the_program_are_its_own(self, offered):
        for line in ("ls --colo", "-o x ls --colo", "--output x --set basic ls --colo", "-f -- ls --colo", "-- ls --colo"):
            self.assertIn("--color", offered(f"gpuprof profile {line}"), line)
        for line in ("env", "-o x env", "-- env"):
            self.assertIn("env", offered(f"gpuprof profile {line}"), line)
        self.assertEqual(offered("gpuprof profile ls --ou"), [])

    def test_every_option_is_in_the_manual_and_in_each_completion(self):
        manual, zsh, fish = (self.text(name) for name in ("gpuprof.1", "_gpuprof", "gpuprof.fish"))
        for command in COMMANDS:
            names = options_of(command)
            self.assertTrue(names, command)
            section = manual.split(f".SH OPTIONS OF {command.upper()}\n")[1].split("\n.SH ")[0].replace("\\-", "-")
            part = re.search(rf"^    {command}\)\n(.*?);;$", zsh, re.S | re.M)[1]
            completed = self.completed("gpuprof", command, "--")
            for name in names:
                with self.subTest(command=command, option=name):
                    self.assertRegex(section, rf"(?m)^\.BR .*--{name}( |$)")
                    self.assertIn(f"--{name}", completed)
                    self.assertRegex(part, rf"--{name}[=\[}}]")
                    self.assertRegex(fish, rf"(?m)^complete -c gpuprof -n '__gpuprof_is {command}[;'].* -l {name} ")

    def test_options_of_profile_name_their_variables_and_defaults(self):
        section = self.text("gpuprof.1").replace("\\-", "-")
        self.assertIn("(GPUPROF_CAPTURE_RANGE_END)", section)
        self.assertIn("(GPUPROF_STATS=1)", section)
        self.assertRegex(section, r"Default: 256\. \(GPUPROF_BUFFER_LIMIT_MIB\)")
        self.assertNotIn("GPUPROF_TIMEUNIT", section)

    def test_bash_completes_words_lists_and_files(self):
        self.assertEqual(self.completed("gpuprof", "st"), ["stats", "status"])
        self.assertEqual(self.completed("gpuprof", "stats", "-r", "nvtx_sum,cuda_gpu_mem"),
                         ["nvtx_sum,cuda_gpu_mem_time_sum", "nvtx_sum,cuda_gpu_mem_size_sum"])
        self.assertEqual(self.completed("gpuprof", "profile", "-t", "cuda,nv"), ["cuda,nvtx"])
        self.assertEqual(self.completed("gpuprof", "profile", "--capture-range-end", "re"), ["repeat", "repeat-shutdown:"])
        self.assertEqual(self.completed("gpuprof", "profile", "--metrics", "auto,ro"), ["auto,roofline"])
        self.assertEqual(self.completed("gpuprof", "stats", "-f", "js"), ["json"])
        self.assertEqual(self.completed("gpuprof", "roofline", "-f", "sv"), ["svg"])
        self.assertEqual(self.completed("gpuprof", "peaks", "--only", "fp32,tensor_b"), ["fp32,tensor_bf16"])
        self.assertEqual(self.completed("gpuprof", "stats", "--limit", ""), [])
        self.assertIn("documents_test.py", " ".join(self.completed("gpuprof", "peaks", "--from", str(pathlib.Path(__file__).with_name("docum")))))

    def test_each_shell_offers_every_peak_test_report_and_set(self):
        sets = re.findall(r"(?m)^  ([a-z]+) {2,}", help_of("metrics").split("Sets:\n")[1])
        tests = [line.split()[0] for line in subprocess.run([GPUPROF, "peaks", "--list", "--csv"], capture_output=True, text=True).stdout.replace(",", " ").splitlines()[1:]]
        reports = re.search(r"Reports: ([a-z_, \n]+)", help_of("stats"))[1].replace("\n", " ").replace(",", " ").split()
        for command, option, words in (("metrics", "--set", sets), ("peaks", "--only", tests), ("stats", "--report", reports)):
            self.assertGreater(len(words), 3, command)
            self.assertLessEqual(set(words), set(self.completed("gpuprof", command, option, "")), command)
            for name in ("_gpuprof", "gpuprof.fish"):
                text = self.text(name)
                self.assertEqual([word for word in words if not re.search(rf"[ '(]{word}[ ')]", text)], [], name)

    def test_bash_does_not_complete_options_of_gpuprof_after_the_program(self):
        self.assertNotIn("--output", self.completed("gpuprof", "profile", "-o", "x", "--", "python3", "--o"))
        self.assertIn("--output", self.completed("gpuprof", "profile", "-f", "--o"))

    def test_zsh_completes_words_and_lists_but_no_options_of_gpuprof_after_the_program(self):
        self.check_what_a_shell_offers(self.offered_by_zsh)
        self.check_that_the_words_behind_the_program_are_its_own(self.offered_by_zsh)

    def test_fish_completes_words_and_lists_but_no_options_of_gpuprof_after_the_program(self):
        self.check_what_a_shell_offers(self.offered_by_fish)
        self.check_that_the_words_behind_the_program_are_its_own(self.offered_by_fish)

    def test_shells_and_groff_accept_the_documents(self):
        for shell, name in (("zsh", "_gpuprof"), ("fish", "gpuprof.fish"), ("bash", "gpuprof.bash")):
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", DOCUMENTS / name], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-Wbreak", DOCUMENTS / "gpuprof.1"], capture_output=True, text=True)
            self.assertEqual(done.stderr, "")
            self.assertIn("--overhead-budget PERCENT", re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout).replace("‐", "-").replace("−", "-"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
