import { posix } from 'node:path'
import { expect, test } from 'vitest'
import type { ResolvedPath, World } from '../shell/world.ts'

/** An entry at a path of a made-up world. The directories above it exist too. */
export type Entry =
  | 'file'
  | 'directory'
  | { readonly link: string }
  /** Files with the same id are one file with several names. */
  | { readonly id: string }
  | { readonly text: string }

export interface MadeUp {
  /** By path. Relative paths are below the root. */
  readonly files: Readonly<Record<string, Entry>>
  readonly root?: string
  readonly home?: string
  readonly env?: Readonly<Record<string, string>>
  readonly own?: readonly string[]
}

/** An in-memory disk. It follows links like the real one. */
export function madeUpWorld({
  files,
  root = '/home/dev/app',
  home = '/home/dev',
  env = {},
  own = [],
}: MadeUp): World {
  const entries = new Map<string, Entry>([[root, 'directory']])
  for (const [path, entry] of Object.entries(files)) entries.set(posix.resolve(root, path), entry)
  for (const path of [...entries.keys()])
    for (let at = posix.dirname(path); ; at = posix.dirname(at)) {
      if (!entries.has(at)) entries.set(at, 'directory')
      if (at === '/') break
    }
  return { home, env, own, platform: 'linux', resolve, list, readText }

  function resolve(path: string): ResolvedPath {
    const rest = path.split('/').filter((part) => part !== '' && part !== '.')
    let real = '/'
    let hops = 0
    for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
      if (part === '..') {
        real = posix.dirname(real)
        continue
      }
      const next = posix.join(real, part)
      const entry = entries.get(next)
      if (typeof entry !== 'object' || !('link' in entry)) {
        real = next
        continue
      }
      hops += 1
      if (hops > 40) return { real: posix.normalize(path), kind: 'missing', id: null, links: 0 }
      if (entry.link.startsWith('/')) real = '/'
      rest.unshift(...entry.link.split('/').filter((each) => each !== '' && each !== '.'))
    }
    const entry = entries.get(real)
    if (entry === undefined) return { real, kind: 'missing', id: null, links: 0 }
    const id = typeof entry === 'object' && 'id' in entry ? entry.id : `made-up:${real}`
    const links = [...entries.values()].filter(
      (each) => typeof each === 'object' && 'id' in each && each.id === id,
    )
    return { real, kind: entry === 'directory' ? 'directory' : 'file', id, links: Math.max(1, links.length) }
  }

  function list(directory: string): readonly string[] | null {
    const { real, kind } = resolve(directory)
    if (kind !== 'directory') return null
    return [...entries.keys()]
      .filter((path) => path !== '/' && posix.dirname(path) === real)
      .map((path) => posix.basename(path))
  }

  function readText(path: string, maxBytes: number): string | null {
    const entry = entries.get(resolve(path).real)
    if (typeof entry !== 'object' || !('text' in entry)) return null
    return entry.text.length > maxBytes ? null : entry.text
  }
}

/** What a rule may rely on. `open` returns a world with the files of `conformanceFiles` below its root. */
export function worldConformance(
  open: () => Promise<{ readonly world: World; readonly root: string }>,
): void {
  test('a path is followed link by link', async () => {
    const { world, root } = await open()
    expect(world.resolve(`${root}/link`)).toMatchObject({ real: `${root}/.env`, kind: 'file' })
    expect(world.resolve(`${root}/linked/inner.txt`).real).toBe(`${root}/sub/inner.txt`)
    expect(world.resolve(`${root}/linked/../.env`).real).toBe(`${root}/.env`)
  })

  test('two names of one file have the same id', async () => {
    const { world, root } = await open()
    const [one, other] = [world.resolve(`${root}/.env`), world.resolve(`${root}/second`)]
    expect(one.id).toBe(other.id)
    expect(one.links).toBe(2)
    expect(world.resolve(`${root}/sub/inner.txt`).id).not.toBe(one.id)
  })

  test('a missing path is appended to the real path of its directory', async () => {
    const { world, root } = await open()
    expect(world.resolve(`${root}/linked/new/file`)).toEqual({
      real: `${root}/sub/new/file`,
      kind: 'missing',
      id: null,
      links: 0,
    })
    expect(world.resolve(`${root}/dangling`)).toMatchObject({
      real: `${root}/sub/.env.local`,
      kind: 'missing',
    })
  })

  test('a cycle of links is missing', async () => {
    const { world, root } = await open()
    expect(world.resolve(`${root}/circle`).kind).toBe('missing')
  })

  test('only a directory has names in it', async () => {
    const { world, root } = await open()
    expect([...(world.list(`${root}/sub`) ?? [])].sort()).toEqual(['inner.txt'])
    expect(world.list(`${root}/linked`)).toEqual(['inner.txt'])
    expect(world.list(`${root}/.env`)).toBeNull()
    expect(world.list(`${root}/nowhere`)).toBeNull()
    expect(world.list(root)).toContain('link')
    expect(world.list(`${root}/.env`)).toBeNull()
  })

  test('a text is read when it is short enough', async () => {
    const { world, root } = await open()
    expect(world.readText(`${root}/sub/inner.txt`, 10)).toBe('inner')
    expect(world.readText(`${root}/sub/inner.txt`, 4)).toBeNull()
    expect(world.readText(`${root}/sub`, 100)).toBeNull()
    expect(world.readText(`${root}/nowhere`, 100)).toBeNull()
  })

  test('an impossible path is missing', async () => {
    const { world, root } = await open()
    expect(world.resolve(`${root}/a\0b`).kind).toBe('missing')
    expect(world.list(`${root}/a\0b`)).toBeNull()
    expect(world.readText(`${root}/a\0b`, 10)).toBeNull()
    expect(world.resolve(`${root}/${'x'.repeat(5000)}`).kind).toBe('missing')
  })
}
