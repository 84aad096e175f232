/**
 * SHA-256 without node:crypto, for short texts: loading that module takes a fifth of the time Node itself needs to start, and
 * a hook hashes only a few kilobytes.
 */
export function sha256Bytes(...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const padded = new Uint8Array((((length + 8) >>> 6) + 1) << 6)
  let at = 0
  for (const part of parts) {
    padded.set(part, at)
    at += part.length
  }
  padded[length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(length / 0x20000000))
  view.setUint32(padded.length - 4, (length << 3) >>> 0)
  const state = Int32Array.from(initial)
  const words = new Int32Array(64)
  for (let offset = 0; offset < padded.length; offset += 64) compress(state, words, view, offset)
  const digest = new Uint8Array(32)
  const out = new DataView(digest.buffer)
  for (const [index, word] of state.entries()) out.setInt32(index * 4, word)
  return digest
}

/** RFC 2104. */
export function hmacSha256(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const block = new Uint8Array(64)
  block.set(key.length > 64 ? sha256Bytes(key) : key)
  const inner = sha256Bytes(
    block.map((byte) => byte ^ 0x36),
    ...parts,
  )
  return sha256Bytes(
    block.map((byte) => byte ^ 0x5c),
    inner,
  )
}

export function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

const initial = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]

/** First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const rounds = Int32Array.from(firstPrimes(64), (prime) => ((Math.cbrt(prime) % 1) * 0x100000000) | 0)

function firstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate += 1)
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  return primes
}

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
