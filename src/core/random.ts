/**
 * Numbers in [0, 1) that depend only on the seed (sfc32, seeded through splitmix32), so every interval in a report is reproducible.
 * Not for secrets.
 */
export function seededRandom(seed: number): () => number {
  const next = splitmix(seed)
  let [a, b, c, counter] = [next(), next(), next(), 1]
  const draw = (): number => {
    const mixed = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + mixed) | 0
    return (mixed >>> 0) / 4_294_967_296
  }
  // The first numbers of neighbouring seeds are similar, so skip them.
  for (let round = 0; round < 12; round += 1) draw()
  return draw
}

function splitmix(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return mixed ^ (mixed >>> 15)
  }
}
