#!/usr/bin/env python3
"""Opens N event streams and takes what comes on them until standard input ends.

  bench/followers.py HOST PORT TOKEN N

Prints `open` when every stream has begun. A line on standard input, the number of a fact, is answered by `have` when the
first stream has shown this fact and each other stream has brought as many bytes. The first stream is read; the bytes of
the others are dropped by the kernel, so that the clients, which are elsewhere at a real site, cost this machine little.
SPDX-License-Identifier: Apache-2.0
"""
import re
import select
import socket
import sys
import time

READ_BYTES = 1 << 20
TAIL_BYTES = 4096  # of the first stream, in which the last event is looked for
OPENING_BYTES = 4096  # of events that happen while the streams are opened
PAUSE_S = 0.01  # between two looks, so that a look finds more than one packet
BEGUN = b": weir\n\n"
ROOM = memoryview(bytearray(READ_BYTES))


class Stream:
    def __init__(self, host, port, token, read):
        self.socket = socket.create_connection((host, port), timeout=60)
        self.socket.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        self.read = True
        self.tail = b""
        self.bytes = 0
        while BEGUN not in self.tail:
            self.take()
        self.read = read
        self.socket.setblocking(False)

    def take(self):
        count = self.socket.recv_into(ROOM, READ_BYTES, 0 if self.read else socket.MSG_TRUNC)
        if count == 0:
            raise SystemExit("followers: the server ended a stream")
        self.bytes += count
        if self.read:
            self.tail = (self.tail + bytes(ROOM[max(0, count - TAIL_BYTES):count]))[-TAIL_BYTES:]
            if b"event: reset" in self.tail:
                raise SystemExit("followers: the server reset a stream")

    def last(self):
        found = re.findall(rb"id: (\d+)\n", self.tail)
        return int(found[-1]) if found else 0


def main():
    host, port, token, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    streams = [Stream(host, port, token, number == 0) for number in range(count)]
    print("open", flush=True)
    poll = select.epoll()
    by_fd = {stream.socket.fileno(): stream for stream in streams}
    for number in by_fd:
        poll.register(number, select.EPOLLIN)
    poll.register(sys.stdin.fileno(), select.EPOLLIN)
    wanted = None
    while True:
        for number, _ in poll.poll(1):
            if number in by_fd:
                by_fd[number].take()
                continue
            line = sys.stdin.readline()
            if not line:
                return
            wanted = int(line)
        if wanted is not None and streams[0].last() >= wanted and all(s.bytes >= streams[0].bytes - OPENING_BYTES for s in streams):
            print("have", flush=True)
            wanted = None
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
