import { posix } from 'node:path'
import type { ShellState } from './shell-state.ts'
import { unknownPart } from './unknown-part.ts'

/**
 * The absolute path, with `..` left in it, because links are resolved one by one. `/proc/self/cwd` and similar paths refer to the
 * command, not to this process.
 */
export function absolutePath(path: string, cwd: string | null): string {
  const joined = path.startsWith('/') ? path : `${cwd ?? unknownPart}/${path}`
  const own = joined.includes('/proc/') ? ofThisProcess(joined, cwd) : joined
  if (!/\/(?:[./]|$)/.test(own)) return own
  const cleaned = own.replaceAll(/\/+(?:\.\/+)*/g, '/').replace(/\/\.?$/, '')
  return cleaned === '' ? '/' : cleaned
}

function ofThisProcess(path: string, cwd: string | null): string {
  return path
    .replace(/^\/+proc\/+(?:self|thread-self|\d+|\0)\/+(?:task\/+\d+\/+)?cwd(?=\/|$)/, cwd ?? unknownPart)
    .replace(/^\/+proc\/+(?:self|thread-self|\d+|\0)\/+(?:task\/+\d+\/+)?root(?=\/|$)/, '')
}

/** What a program reads from a file that the command wrote, or from its input: `-`. null when that is not known. */
export function textAt(name: string, { cwd, stdin, made }: ShellState): string | null {
  if (name === '-' || name === '/dev/stdin') return stdin
  return made.files.get(absolutePath(name, cwd)) ?? null
}

/** The path, then the path with the command's own links followed. */
export function leadsTo(path: string, state: ShellState): readonly string[] {
  const { links } = state.made
  if (links.size === 0) return [path]
  const paths = [path]
  for (let current = path, hops = 0; hops < 8; hops += 1) {
    const next = throughLink(posix.normalize(current), links)
    if (next === null) break
    paths.push(next)
    current = next
  }
  return paths
}

function throughLink(path: string, links: ReadonlyMap<string, string>): string | null {
  for (const [link, target] of links) {
    if (path !== link && !path.startsWith(`${link}/`)) continue
    const base = target.startsWith('/') ? target : `${posix.dirname(link)}/${target}`
    return absolutePath(`${base}${path.slice(link.length)}`, '/')
  }
  return null
}

/** The descriptor number in a path such as `/dev/fd/3`. */
export function descriptorOf(path: string): string | null {
  if (!path.startsWith('/dev/') && !path.startsWith('/proc/')) return null
  const found = /^\/(?:dev\/fd|proc\/(?:self|thread-self|\d+|\0)\/fd)\/(\d+)$/.exec(path)
  if (found?.[1] !== undefined) return found[1]
  const stream = { '/dev/stdin': '0', '/dev/stdout': '1', '/dev/stderr': '2' }
  return path === '/dev/stdin' || path === '/dev/stdout' || path === '/dev/stderr' ? stream[path] : null
}
