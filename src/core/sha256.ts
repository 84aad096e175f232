// Hand-written because hooks use it: loading node:crypto takes a fifth of Node's start time.
/** SHA-256 of short texts: a hook hashes only a few kilobytes. */
export function sha256Bytes(...parts: readonly Uint8Array[]): Uint8Array {
  return digest(Int32Array.from(initial), 0, parts)
}

/** Continues from a state after `before` bytes, a whole number of blocks. Changes `state`. */
function digest(state: Int32Array, before: number, parts: readonly Uint8Array[]): Uint8Array {
  const given = parts.reduce((sum, part) => sum + part.length, 0)
  const length = before + given
  const padded = new Uint8Array((((given + 8) >>> 6) + 1) << 6)
  let at = 0
  for (const part of parts) {
    padded.set(part, at)
    at += part.length
  }
  padded[given] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(length / 0x20000000))
  view.setUint32(padded.length - 4, (length << 3) >>> 0)
  const words = new Int32Array(64)
  for (let offset = 0; offset < padded.length; offset += 64) compress(state, words, view, offset)
  const digest = new Uint8Array(32)
  const out = new DataView(digest.buffer)
  for (const [index, word] of state.entries()) out.setInt32(index * 4, word)
  return digest
}

/** RFC 2104. */
export function hmacSha256(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const { inner, outer } = keyStates(key)
  return digest(outer.slice(), 64, [digest(inner.slice(), 64, parts)])
}

interface KeyStates {
  readonly inner: Int32Array
  readonly outer: Int32Array
}

/** The state of a key is computed once, because a hook seals several lines with the same key. */
const known = new WeakMap<Uint8Array, KeyStates>()

function keyStates(key: Uint8Array): KeyStates {
  const before = known.get(key)
  if (before !== undefined) return before
  const block = new Uint8Array(64)
  block.set(key.length > 64 ? sha256Bytes(key) : key)
  const states = { inner: keyState(block, 0x36), outer: keyState(block, 0x5c) }
  known.set(key, states)
  return states
}

function keyState(block: Uint8Array, pad: number): Int32Array {
  const state = Int32Array.from(initial)
  const mixed = block.map((byte) => byte ^ pad)
  compress(state, new Int32Array(64), new DataView(mixed.buffer), 0)
  return state
}

export function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

const initial = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]

/** First 32 bits of the fractional parts of the cube roots of the first 64 primes. A table, because computing them is too slow for a hook. */
const rounds = Int32Array.from([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
])

function compress(state: Int32Array, words: Int32Array, view: DataView, offset: number): void {
  for (let i = 0; i < 16; i += 1) words[i] = view.getInt32(offset + i * 4)
  for (let i = 16; i < 64; i += 1) {
    const x = words[i - 15] ?? 0
    const y = words[i - 2] ?? 0
    const small0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const small1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    words[i] = ((words[i - 16] ?? 0) + small0 + (words[i - 7] ?? 0) + small1) | 0
  }
  let a = state[0] ?? 0
  let b = state[1] ?? 0
  let c = state[2] ?? 0
  let d = state[3] ?? 0
  let e = state[4] ?? 0
  let f = state[5] ?? 0
  let g = state[6] ?? 0
  let h = state[7] ?? 0
  for (let i = 0; i < 64; i += 1) {
    const big1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const t1 = (h + big1 + ((e & f) ^ (~e & g)) + (rounds[i] ?? 0) + (words[i] ?? 0)) | 0
    const big0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const t2 = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  const next = [a, b, c, d, e, f, g, h]
  for (let i = 0; i < 8; i += 1) state[i] = ((state[i] ?? 0) + (next[i] ?? 0)) | 0
}
