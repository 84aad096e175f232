/** The beginning of what came out of a step, in which the engine says why it could not start one. */
export function beginningOf(maxBytes: number): { add(content: Uint8Array): void; text(): string } {
  let kept = Buffer.alloc(0)
  return {
    add: (content) => {
      if (kept.length < maxBytes) kept = Buffer.concat([kept, content.subarray(0, maxBytes - kept.length)])
    },
    text: () => kept.toString('utf8'),
  }
}
