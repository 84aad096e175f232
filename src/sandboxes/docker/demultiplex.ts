const headerBytes = 8

/**
 * Takes the stream of an exec apart: frames of a stream's number, three zeros, a length in four bytes and that many bytes. Chunks may
 * be cut anywhere. What is inside goes on as it comes: a frame is never gathered first.
 */
export function demultiplex(onContent: (content: Uint8Array) => void): (chunk: Uint8Array) => void {
  const header = new Uint8Array(headerBytes)
  let headerFilled = 0
  let contentLeft = 0
  return (chunk) => {
    let at = 0
    while (at < chunk.length) {
      if (contentLeft > 0) {
        const content = chunk.subarray(at, at + contentLeft)
        contentLeft -= content.length
        at += content.length
        onContent(content)
        continue
      }
      const part = chunk.subarray(at, at + headerBytes - headerFilled)
      header.set(part, headerFilled)
      headerFilled += part.length
      at += part.length
      if (headerFilled < headerBytes) return
      headerFilled = 0
      contentLeft = new DataView(header.buffer).getUint32(4)
    }
  }
}
