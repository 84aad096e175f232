/** The id git gives to a content: the SHA-1 over its length and its bytes. Reckoned here, because rules see the disk only through the world. */
export function gitBlobId(content: Uint8Array): Uint8Array {
  const header = Buffer.from(`blob ${content.length}\0`)
  return sha1(Buffer.concat([header, content]))
}

function sha1(message: Uint8Array): Uint8Array {
  const blocks = Math.ceil((message.length + 9) / 64)
  const padded = new Uint8Array(blocks * 64)
  padded.set(message)
  padded[message.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(message.length / 0x2000_0000))
  view.setUint32(padded.length - 4, (message.length << 3) >>> 0)
  const state = new Uint32Array([0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0])
  const words = new Uint32Array(80)
  for (let block = 0; block < blocks; block += 1) {
    for (let at = 0; at < 16; at += 1) words[at] = view.getUint32(block * 64 + at * 4)
    addBlock(state, words)
  }
  const digest = new DataView(new ArrayBuffer(20))
  for (const [index, word] of state.entries()) digest.setUint32(index * 4, word)
  return new Uint8Array(digest.buffer)
}

function addBlock(state: Uint32Array, words: Uint32Array): void {
  const word = (at: number): number => words[at] ?? 0
  for (let at = 16; at < 80; at += 1)
    words[at] = turned(word(at - 3) ^ word(at - 8) ^ word(at - 14) ^ word(at - 16), 1)
  let [a = 0, b = 0, c = 0, d = 0, e = 0] = state
  for (let at = 0; at < 80; at += 1) {
    const next = (turned(a, 5) + mixed(Math.floor(at / 20), b, c, d) + e + word(at)) >>> 0
    ;[a, b, c, d, e] = [next, a, turned(b, 30), c, d]
  }
  for (const [index, value] of [a, b, c, d, e].entries()) state[index] = (state[index] ?? 0) + value
}

function mixed(round: number, b: number, c: number, d: number): number {
  switch (round) {
    case 0:
      return ((b & c) | (~b & d)) + 0x5a82_7999
    case 1:
      return (b ^ c ^ d) + 0x6ed9_eba1
    case 2:
      return ((b & c) | (b & d) | (c & d)) + 0x8f1b_bcdc
    default:
      return (b ^ c ^ d) + 0xca62_c1d6
  }
}

function turned(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}
