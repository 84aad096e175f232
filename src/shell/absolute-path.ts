import { posix } from 'node:path'
import type { ShellState } from './interpreter.ts'
import { hole } from './unknown.ts'

/**
 * The path from the root, with `..` left in it: what it leads to is decided link by link. `/proc/self/cwd` and its kin are those of
 * the command, not of whoever looks.
 */
export function absolutePath(path: string, cwd: string | null): string {
  const joined = path.startsWith('/') ? path : `${cwd ?? hole}/${path}`
  const own = joined.includes('/proc/') ? ofThisProcess(joined, cwd) : joined
  if (!/\/(?:[./]|$)/.test(own)) return own
  const cleaned = own.replaceAll(/\/+(?:\.\/+)*/g, '/').replace(/\/\.?$/, '')
  return cleaned === '' ? '/' : cleaned
}

function ofThisProcess(path: string, cwd: string | null): string {
  return path
    .replace(/^\/+proc\/+(?:self|thread-self|\d+|\0)\/+(?:task\/+\d+\/+)?cwd(?=\/|$)/, cwd ?? hole)
    .replace(/^\/+proc\/+(?:self|thread-self|\d+|\0)\/+(?:task\/+\d+\/+)?root(?=\/|$)/, '')
}

/** Also with the links the command made itself followed; the path first. */
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
