import { posix } from 'node:path'
import type { ToolCall } from '../core/hook-event.ts'
import { shorten } from '../core/shorten.ts'
import {
  namedIn,
  type ProtectedPaths,
  protectedBelow,
  protectedPaths,
  type ReadBudget,
} from '../guard-engine/protected-path.ts'
import { callTargets, type OpaquePart, type WriteTarget } from '../guard-engine/targets.ts'
import type { ResolvedPath } from '../shell/world.ts'
import type { Rule, Scene } from './contract.ts'

/** Lookups shared within one call. */
interface Look extends ReadBudget {
  /** Protected files in the root and the working directory. */
  near: readonly string[] | null
  /** Protected files below the root. */
  far: readonly string[] | null
}

interface Violation {
  /** The path as the agent wrote it. */
  readonly written: string
  /** The file that would really change, if it is a different one. */
  readonly real: string | null
  readonly pattern: string
  /** What the call would do to the file or, if that cannot be judged, why not. */
  readonly how: string
  readonly sure: boolean
}

/** Denies every tool call that would change, remove or create a protected file, however its path is written or reached. */
export const protectFiles: Rule = {
  name: 'protect-files',
  on: ['tool_before'],
  judge(scene) {
    const { event, settings } = scene
    if (event.kind !== 'tool_before' || !settings.fileProtection.enabled) return null
    if (settings.fileProtection.protectedPatterns.length === 0) return null
    const violation = violationOf(event.call, scene)
    return violation === null ? null : { deny: reasonOf(violation) }
  },
}

function violationOf(call: ToolCall, scene: Scene): Violation | null {
  const { event, world, settings } = scene
  const paths = protectedPaths(settings.fileProtection.protectedPatterns, event.root, world.home)
  const targets = callTargets(call, event.cwd, world)
  const look: Look = { left: maxEntries, near: null, far: null }
  for (const target of targets.writes) {
    const found = writeViolation(target, paths, scene, look)
    if (found !== null) return found
  }
  for (const part of targets.opaque) {
    const found = opaqueViolation(part, paths, scene, look)
    if (found !== null) return found
  }
  return null
}

/** Limits the search below directories, because a call must be decided quickly. */
const maxEntries = 5000

function writeViolation(
  target: WriteTarget,
  paths: ProtectedPaths,
  scene: Scene,
  look: Look,
): Violation | null {
  const { world, event } = scene
  const { path, how, below, entry = false } = target
  const written = target.written ?? path
  // A search changes only the files it finds, not the directory it starts in.
  const itself = below?.only === undefined ? protectedItself(path, entry, paths, scene, look) : null
  if (itself !== null) return { written, how, sure: true, ...itself }
  if (below === undefined || isScratch(below.look, scene)) return null
  const copies = posix.normalize(below.look) !== posix.normalize(path)
  const only = below.only ?? (() => true)
  const start = world.resolve(below.look).real
  for (const found of protectedBelow(
    below.look,
    world,
    (each) => paths.patternOf(each) !== null && only(each),
    look,
  )) {
    const place = copies ? posix.normalize(`${path}${found.slice(start.length)}`) : found
    const pattern = paths.patternOf(place)
    // Copying a whole tree elsewhere changes nothing here.
    const matters = !copies || place.startsWith(`${event.root}/`) || world.resolve(place).kind !== 'missing'
    if (pattern !== null && matters)
      return {
        written: place,
        real: null,
        pattern,
        how: written === '.' ? how : `${how} with ${written}`,
        sure: true,
      }
  }
  return null
}

function protectedItself(
  path: string,
  entry: boolean,
  paths: ProtectedPaths,
  scene: Scene,
  look: Look,
): Pick<Violation, 'real' | 'pattern'> | null {
  const { world } = scene
  const written = paths.patternOf(path)
  if (written !== null) return { real: null, pattern: written }
  if (entry) {
    const parent = world.resolve(posix.dirname(path)).real
    const real = `${parent === '/' ? '' : parent}/${posix.basename(path)}`
    const pattern = paths.patternOf(real)
    return pattern === null ? null : { real, pattern }
  }
  const resolved = world.resolve(path)
  const pattern = paths.patternOf(resolved.real)
  if (pattern !== null) return { real: resolved.real, pattern }
  return sameFile(resolved, paths, scene, look)
}

/** Temporary files of other programs are not protected. */
function isScratch(path: string, { event, world }: Scene): boolean {
  const near = [posix.normalize(path), world.resolve(path).real]
  const scratch = ['/tmp', '/var/tmp', world.env.TMPDIR ?? '/tmp'].map((each) => each.replace(/\/$/, ''))
  return near.every(
    (each) =>
      scratch.some((place) => each.startsWith(`${place}/`)) &&
      !`${event.root}/`.startsWith(`${each}/`) &&
      !each.startsWith(`${event.root}/`),
  )
}

/** Another name of a protected file: a hard link to it, or the target of a protected link. */
function sameFile(
  resolved: ResolvedPath,
  paths: ProtectedPaths,
  { world, event }: Scene,
  look: Look,
): Pick<Violation, 'real' | 'pattern'> | null {
  if (resolved.id === null || resolved.kind !== 'file') return null
  const wanted = (path: string): boolean => paths.patternOf(path) !== null
  look.near ??= [...new Set([event.root, event.cwd])].flatMap((directory) =>
    (world.list(directory) ?? []).map((name) => `${directory}/${name}`).filter(wanted),
  )
  if (resolved.links > 1) look.far ??= protectedBelow(event.root, world, wanted, look)
  for (const candidate of [...look.near, ...(look.far ?? [])]) {
    const pattern = paths.patternOf(candidate)
    if (pattern !== null && world.resolve(candidate).id === resolved.id) return { real: candidate, pattern }
  }
  return null
}

/** A sentence in code, which ends in the name of a file. */
const prose = /^(?:[^\s/]+ ){5,}[^\s/]+$/

function opaqueViolation(
  part: OpaquePart,
  paths: ProtectedPaths,
  scene: Scene,
  look: Look,
): Violation | null {
  const { world, event } = scene
  const { text, why, exact = false, shape } = part
  if (exact) {
    if (text === '' || text.includes('\0') || text.length > 4096 || prose.test(text)) return null
    const path = text.startsWith('/') ? text : `${event.cwd}/${text}`
    const found = /\s/.test(text)
      ? named(paths.patternOf(path))
      : protectedItself(path, false, paths, scene, look)
    return found === null ? null : { written: text, how: why, sure: false, ...found }
  }
  const base = shape?.slice(shape.lastIndexOf('/') + 1)
  const written = part.written ?? ''
  if (base !== undefined && !/[\0\u0001]/.test(base)) {
    const pattern = paths.patternOfName(base)
    return pattern === null ? null : { written, real: null, pattern, how: why, sure: true }
  }
  const ending =
    base === undefined ? '' : base.slice(Math.max(base.lastIndexOf('\0'), base.lastIndexOf('\u0001')) + 1)
  const isThere = (path: string): boolean => world.resolve(path).kind !== 'missing'
  const found = namedIn(text, paths, { cwd: event.cwd, isThere, ending })
  return found === null
    ? null
    : { written: found.name, real: null, pattern: found.pattern, how: why, sure: false }
}

function named(pattern: string | null): Pick<Violation, 'real' | 'pattern'> | null {
  return pattern === null ? null : { real: null, pattern }
}

function reasonOf({ written, real, pattern, how, sure }: Violation): string {
  const leads = real === null ? '' : ` It is the file ${short(real)}.`
  const effect = shorten(how, 200)
  const what = sure
    ? `What the call would do: ${effect}.`
    : `The call names it and cannot be judged beforehand: ${effect}. To only read the file, use a plain command.`
  return (
    `${short(written)} is protected and must not be modified (pattern ${short(pattern, 100)}).${leads} ${what} ` +
    'Do not change this file: tell the user what you would change in it and why, and continue with the rest. ' +
    `If this file is not a secret, the user narrows ${short(pattern, 100)} in harness.json, middleware.file_protection.protected_patterns.`
  )
}

function short(text: string, length = 200): string {
  const visible = text.replaceAll(/[\x00-\x1f\x7f]/g, ' ')
  return `\`${shorten(visible, length)}\``
}
