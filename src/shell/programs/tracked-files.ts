import { posix } from 'node:path'
import { charsOf, globRegExp } from '../glob-pattern.ts'
import type { World } from '../world.ts'

/** What the index of a repository says of its files. */
export interface Tracked {
  /** The top of the working tree. */
  readonly top: string
  /** Is it in the index? By its absolute path. */
  has(path: string): boolean
  /** Whether the index has other content than the disk. Always false for content that is not text. */
  isChanged(path: string): boolean
}

/** null outside of a repository. */
export function trackedIn(world: World, cwd: string | null): Tracked | null {
  const top = cwd === null ? null : repositoryOf(cwd, world)
  if (top === null) return null
  const index = world.readText(`${top}/.git/index`, maxIndex) ?? ''
  const nameOf = (path: string): string => (path.startsWith(`${top}/`) ? path.slice(top.length + 1) : path)
  const has = (path: string): boolean => index.includes(`${nameOf(path)}\0`)
  return {
    top,
    has,
    isChanged: (path) => has(path) && !isInIndex(nameOf(path), world.readText(path, maxFile)),
  }

  /**
   * The index contains the id of the content right before the name. It was read as text, so bytes that are not text are lost; but
   * a character begins within any four bytes, and from there on the same bytes give the same text.
   */
  function isInIndex(name: string, content: string | null): boolean {
    if (content === null || content.includes('\ufffd')) return content !== null
    const id = gitBlobId(Buffer.from(content))
    const length = Math.min(Buffer.byteLength(name), 0xfff)
    const entry = Buffer.concat([id, Buffer.from([length >> 8, length & 0xff]), Buffer.from(`${name}\0`)])
    return [0, 1, 2, 3].some((from) => index.includes(entry.subarray(from).toString('utf8')))
  }
}

const maxIndex = 8_388_608
const maxFile = 1_048_576

export function repositoryOf(cwd: string, world: World): string | null {
  for (let at = cwd; ; at = posix.dirname(at)) {
    if (world.list(`${at === '/' ? '' : at}/.git`) !== null) return at
    if (at === '/' || !at.startsWith('/')) return null
  }
}

/**
 * Which files `git clean` would remove, as far as the files of the repository show: not those in the index, not those that git is set to
 * keep and, without `-x`, not those that are ignored.
 */
export function untracked(
  world: World,
  cwd: string | null,
  { ignored, kept }: { readonly ignored: boolean; readonly kept: readonly string[] },
): (path: string) => boolean {
  const root = cwd === null ? null : repositoryOf(cwd, world)
  const index = root === null ? null : world.readText(`${root}/.git/index`, maxIndex)
  const rules =
    ignored || root === null ? [] : (world.readText(`${root}/.gitignore`, 65_536) ?? '').split('\n')
  const spared = [...kept, ...rules].map(matcher).filter((each) => each !== null)
  return (path) => {
    const relative = root !== null && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
    if (index?.includes(`${relative}\0`) === true) return false
    return !spared.some((matches) => matches(relative))
  }
}

/** The common forms of an ignore pattern; a negated one is not followed, it spares nothing. */
function matcher(line: string): ((relative: string) => boolean) | null {
  const pattern = line.trim().replace(/^\//, '').replace(/\/$/, '')
  if (pattern === '' || /^[#!]/.test(line.trim())) return null
  const anchored = /\//.test(line.trim().replace(/\/$/, ''))
  const matches = globRegExp(charsOf(pattern.replace(/^\*\*\//, ''), false), {
    across: pattern.includes('**'),
  })
  if (matches === null) return null
  return (relative) => {
    const parts = relative.split('/')
    return parts.some((_, index) =>
      anchored && !pattern.startsWith('**/')
        ? matches.test(parts.slice(0, index + 1).join('/'))
        : matches.test(parts[index] ?? ''),
    )
  }
}

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
