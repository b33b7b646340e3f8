// lines.ts - a body read line by line as it arrives. SPDX-License-Identifier: Apache-2.0

const LINE_MAX = 4 << 20; // characters; a longer line is an error of the server

/** Gives each line; `heard` is called at every piece, so that silence can be noticed. */
export async function* linesOf(body: ReadableStream<Uint8Array>, heard: () => void = () => {}): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      heard();
      rest += decoder.decode(value, { stream: true });
      const parts = rest.split('\n');
      rest = parts.pop() as string;
      if (rest.length > LINE_MAX) throw new Error('a line of the answer is too long');
      yield* parts;
    }
    if (rest) yield rest;
  } finally {
    reader.cancel().catch(() => {});
  }
}
