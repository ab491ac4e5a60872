package main

const runHelp = `bide run - run a command with a time limit, and end all that comes from it

usage: bide run [OPTION...] DURATION COMMAND [ARGUMENT...]

Runs COMMAND. If it has not ended after DURATION, the signal TERM goes to its whole tree: to the
command and to all that came from it, in whatever process group or session. What has not ended
10 seconds later is killed. bide run returns when nothing of the tree is left.

  bide run 10 ping example.org
  bide run 1.5m make test
  bide run -k 2 -s INT 1h30m ./server --port 8080

Options end where DURATION stands; what follows belongs to COMMAND.

  -s, --signal SIGNAL        send SIGNAL instead of TERM: a name (HUP, SIGHUP) or a number
  -k, --kill-after DURATION  kill what has not ended this long after the signal, instead of after
                             10 seconds; 0: never
  -p, --preserve-status      when the time is over, exit as COMMAND did, not with 124
  -f, --foreground           leave COMMAND in bide's process group: see TERMINAL
      --left                 if standard error is a terminal, a line there that counts down what is
                             left, once a second (Linux); for a COMMAND that writes elsewhere
      --report=json          in the end, a line on standard error: see REPORT
  -v, --verbose              say on standard error what signal is sent
  -h, --help                 print this text

DURATION is a number of seconds, or has a unit: 10, 0.5, 30s, 1.5m, 2h, 1d; or as Go writes it:
1m30s, 500ms. 0 is no limit.

THE DEADLINE
  COMMAND finds its deadline in the environment, as BIDE_DEADLINE. A bide run inside of another
  ends no later than the outer one, however long its own DURATION is, and also if that is 0.
  "bide left" prints the seconds that are left; programs that use the library see it too. A value
  that is not understood is warned about, and ignored.

SIGNALS
  TERM, INT, HUP and QUIT that are sent to bide go to the whole tree instead; then it has until
  --kill-after to end, and is killed. bide exits with 128 and the number of the signal. HUP or INT
  that was ignored when bide started stays ignored. If bide itself is killed, so is COMMAND (Linux).

  Who is there gets a signal once. What COMMAND starts when it gets it, for its cleanup, does not.
  A bide run inside of another sends its own: what is below it may get a signal from both.

WHAT BELONGS TO THE TREE
  On Linux bide becomes the parent of orphans, so a process does not get away by a session of its
  own, nor by the death of its parent. On other systems the tree is the process group. Processes
  of other users that bide may not signal are named, and left. Children that bide had before it
  started COMMAND (sh -c 'server & exec bide run ...') do not belong to it, and are left alone; but
  an orphan of theirs that bide first sees when its parent has ended does.

  If COMMAND ends in time, what it leaves in the background is left alone, as by GNU timeout: a
  command that starts a daemon has done its work. A limit for that, too: bide run 10 sh -c
  'server & wait'.

TERMINAL
  COMMAND has a process group of its own. If bide is in the foreground of a terminal that is its
  standard input, output and error output, the terminal is handed over to COMMAND, which can read
  from it, and gets Ctrl-C; bide follows Ctrl-Z and fg. While both are stopped nothing watches the
  time: a limit that has passed meanwhile takes effect when they go on. If COMMAND ends by INT or
  QUIT while it has the terminal, bide's own process group gets that signal, so that Ctrl-C ends a
  script, too; of INT bide then dies itself.

  In a pipeline or with a redirection the terminal stays with bide's group: bide passes Ctrl-C on,
  Ctrl-Z stops bide but not COMMAND, and a COMMAND that reads from the terminal or changes its
  settings, by /dev/tty also, is stopped until the limit. So it is with a bide that was started in
  the background, or went there by bg (Linux; elsewhere the terminal is never handed over).

  With --foreground COMMAND shares the terminal with all of bide's group, as if it had been started
  without bide: also in a pipeline or with a redirection it reads from the terminal and gets its
  keys. While that group is in the foreground, INT and QUIT are taken to be keys: COMMAND has got
  them itself, once, and answers or ends as it likes; the limit goes on. To end bide and COMMAND,
  send TERM. If COMMAND ends by Ctrl-C, bide dies of INT, too.

REPORT
  A JSON object in one line: outcome (ended, timeout, signal, not found, not executable, failed),
  exit_code of bide, command, command_exit_code, command_signal, limit_seconds, elapsed_seconds,
  signals_sent, processes_killed, errors. What does not apply is left out. It is the last line that
  bide writes, but not always the last on standard error: COMMAND's may come later.

EXIT STATUS
  124   the time was over, and --preserve-status was not given
  125   bide run itself failed, or did not understand its command line
  126   COMMAND was found, and could not be run
  127   COMMAND was not found
  137   COMMAND had to be killed (128 + 9)
  128+n COMMAND was ended by signal n; or bide was sent signal n
  else  that of COMMAND

UNLIKE GNU TIMEOUT
  What leaves the process group is ended, too, and so are the children of COMMAND with --foreground.
  There is a default for --kill-after. Without --foreground the terminal is handed over where it
  says so above; with it, Ctrl-C reaches COMMAND once, not twice. Durations of Go are understood. If
  COMMAND was ended by a signal bide exits with 128+n, and does not send that signal to itself, but
  for Ctrl-C and Ctrl-\ as above.
`
