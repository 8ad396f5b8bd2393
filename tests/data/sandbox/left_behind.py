"""An agent that leaves processes behind in every known way and then says it is done."""

import json, os, signal, socket, sys, time
LIFE = 40  # seconds: should a test fail, its processes still end by themselves
signal.alarm(LIFE)
def daemon(work):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.alarm(LIFE)
    work()
def rewrite():
    while True:
        open("answer.txt", "w").write("41")
        time.sleep(0.05)
def hold():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    time.sleep(LIFE)
def respawn():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        if os.fork() == 0:
            signal.alarm(LIFE)
            time.sleep(LIFE)
            os._exit(0)
        os.wait()
open("answer.txt", "w").write("42")
daemon(rewrite)
daemon(hold)
daemon(respawn)
if os.fork() == 0:
    os.setpgid(0, 0)
    signal.alarm(LIFE)
    time.sleep(LIFE)
    os._exit(0)
time.sleep(0.3)
print(json.dumps({"type": "result"}), flush=True)
