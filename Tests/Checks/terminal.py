"""Runs a program on a terminal of its own, ends it in some way, and looks how it ended and what became of the terminal.

usage: terminal.py WAY PROGRAM ARGUMENT...

WAY: background (SIGTERM, when another job has the terminal), stopped (SIGTERM twice, when the terminal takes nothing), key
(Ctrl-\\), or the number of a signal. Prints what was found: exit N, signal N, stop N or hang; and whether modes and screen
are as before.
"""

import fcntl, os, pty, resource, select, signal, struct, sys, termios, time

LEAVE = b"\x1b[?1049l"
PATIENCE = 20


def main():
    way, arguments = sys.argv[1], sys.argv[2:]
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(slave)
    report, told = os.pipe()
    leader = os.fork()
    if leader == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        lead(way, arguments, slave, told)
    os.close(told)
    output, found = b"", b""
    begun = ended = None
    deadline = time.time() + 4 * PATIENCE
    while time.time() < deadline:
        # A terminal that takes nothing is one that nobody reads, too.
        ready = select.select([report] if way == "stopped" and begun else [report, master], [], [], 0.1)[0]
        if master in ready:
            output += os.read(master, 1 << 16)
        if report in ready:
            data = os.read(report, 100)
            if not data:
                break
            found += data
        if begun is None and b"\x1b[?1049h" in output and b"quit" in output:
            begun = time.time()
            if way == "stopped":
                termios.tcflow(slave, termios.TCOOFF)
            if way == "key":
                os.write(master, b"\x1c")
            os.kill(leader, signal.SIGUSR1)
    termios.tcflow(slave, termios.TCOON)
    while select.select([master], [], [], 0.2)[0]:
        output += os.read(master, 1 << 16)
    modes = "same" if termios.tcgetattr(slave) == before else "other"
    screen = "left" if output.rfind(LEAVE) > output.rfind(b"\x1b[?1049h") else "kept"
    print(found.decode().strip() or "hang", "modes", modes, "screen", screen)
    os.kill(leader, signal.SIGKILL)
    os.waitpid(leader, 0)


def lead(way, arguments, slave, told):
    """The session's leader, as a shell is: starts the program as a job, ends it when told to, and says how it ended."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(slave, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for descriptor in range(3):
            os.dup2(slave, descriptor)
        os.environ["TERM"] = "xterm-256color"
        # It would stop and ask what to do with the crash.
        os.environ["SWIFT_BACKTRACE"] = "enable=no"
        os.execvp(arguments[0], arguments)
    signal.sigwait([signal.SIGUSR1])
    if way == "background":
        os.tcsetpgrp(slave, os.getpid())
        os.kill(job, signal.SIGTERM)
    elif way == "stopped":
        # Let it draw into a terminal that is full.
        time.sleep(1)
        os.kill(job, signal.SIGTERM)
        time.sleep(1)
        os.kill(job, signal.SIGTERM)
    elif way != "key":
        os.kill(job, int(way))
    deadline = time.time() + PATIENCE
    status = None
    while status is None and time.time() < deadline:
        identifier, found = os.waitpid(job, os.WNOHANG | os.WUNTRACED)
        status = found if identifier else None
        time.sleep(0.01)
    if status is None:
        text = "hang"
    elif os.WIFSTOPPED(status):
        text = "stop %d" % os.WSTOPSIG(status)
    elif os.WIFSIGNALED(status):
        text = "signal %d" % os.WTERMSIG(status)
    else:
        text = "exit %d" % os.WEXITSTATUS(status)
    os.write(told, text.encode())
    os.close(told)
    if status is None or os.WIFSTOPPED(status):
        os.kill(job, signal.SIGKILL)
    time.sleep(PATIENCE)
    os._exit(0)


main()
