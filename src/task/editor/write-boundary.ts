import { posix } from 'node:path'
import type { AgentHooks } from '../../agents/contract.ts'
import type { ToolCall } from '../../core/hook-event.ts'
import { withRefusalMark } from '../../core/refusal-mark.ts'
import type { World } from '../../rules/contract.ts'
import { openWorld } from '../../rules/open-world.ts'
import { type CallTargets, callTargets, type OpaquePart, type WriteTarget } from '../../rules/targets.ts'

export interface Boundary {
  /** Absolute, real path of the tree the Editor works in. */
  readonly root: string
  /** Of the run store; nothing in it may be written. */
  readonly artefacts: string
  /** Scratch directory of the Editor, which may be written although it is outside. */
  readonly scratch: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Path of the package the task is confined to, relative to the root; null when it may change all of it. */
  readonly package: string | null
}

export interface WriteBoundary {
  /** Why an absolute path, links resolved, must not be written; null when it may be. */
  whyRefused(path: string): string | null
  /** The same before the Editor's tool is used. */
  hooks(toToolCall: (tool: string, input: unknown) => ToolCall): AgentHooks
}

/** What verifies the work, and what is Gantry's own or git's, relative to the root. */
export const protectedNames: readonly string[] = ['agent.yaml', 'agent.yml', 'agent', '.git']

/** The Editor changes files of the repository and nothing else. */
export function writeBoundary(boundary: Boundary): WriteBoundary {
  const { root, home, env } = boundary
  const openEyes = (): World => openWorld({ root, home, env, own: [] })
  return {
    whyRefused: (path) => whyOutside(openEyes().resolve(path).real, boundary),
    hooks: (toToolCall) => ({
      beforeTool: async ({ tool, input }) => {
        const why = whyDenied(toToolCall(tool, input), boundary, openEyes())
        return why === null ? { kind: 'allow' } : { kind: 'deny', reason: withRefusalMark(why) }
      },
    }),
  }
}

function whyDenied(call: ToolCall, boundary: Boundary, world: World): string | null {
  const targets: CallTargets = callTargets(call, boundary.root, world)
  const reasons = [
    ...targets.writes.map((target) => whyTarget(target, boundary, world)),
    ...targets.opaque.map((part) => whyOpaque(part, boundary, world)),
    ...targets.runs.map(whyGit),
  ]
  return reasons.find((reason) => reason !== null) ?? null
}

function whyTarget(target: WriteTarget, boundary: Boundary, world: World): string | null {
  const { path, below, entry = false } = target
  const written = target.written ?? path
  const real = entry ? placeOf(path, world) : world.resolve(path).real
  // Of a search only what it finds is changed, not where it looks.
  const why = below?.only === undefined ? whyOutside(real, boundary) : null
  if (why !== null) return `${shown(written)} must not be written: ${why}.`
  if (below === undefined) return null
  const caught = protectedNames
    .map((name) => `${boundary.root}/${name}`)
    .concat(boundary.artefacts)
    .find((place) => {
      if (!place.startsWith(`${real}/`) && real !== '/') return false
      const source = `${world.resolve(below.look).real}${place.slice(real.length)}`
      return world.resolve(source).kind !== 'missing' && below.only?.(source) !== false
    })
  return caught === undefined ? null : `${shown(written)} must not be written as a whole: ${caught} is in it.`
}

/** The entry itself, not what a link at it leads to. */
function placeOf(path: string, world: World): string {
  const normal = posix.normalize(path)
  const parent = world.resolve(posix.dirname(normal)).real
  return `${parent === '/' ? '' : parent}/${posix.basename(normal)}`
}

const sinks = /^\/dev\/(?:null|stdout|stderr|tty|zero|fd\/\d+)$/

function whyOutside(real: string, boundary: Boundary): string | null {
  const { root, artefacts, scratch, package: inner } = boundary
  if (sinks.test(real) || isBelow(real, scratch)) return null
  // The copy of a dry run lies in the artefact directory itself.
  if (isBelow(real, artefacts) && !(isBelow(root, artefacts) && isBelow(real, root)))
    return 'it is in the artefact directory, which the Editor only reads'
  if (!isBelow(real, root)) return 'it is outside the repository. Temporary files belong into $TMPDIR'
  const relative = real.slice(root.length + 1)
  const own = protectedNames.find((name) => isBelow(relative.toLowerCase(), name))
  if (own !== undefined)
    return `${own} decides how the work is verified or is not the Editor's, and stays as it is`
  if (relative.split('/').includes('.git')) return 'it belongs to git'
  if (inner !== null && relative !== '' && !isBelow(relative, inner))
    return `the task is confined to the package ${inner}`
  return null
}

/** Where code would write that cannot be read beforehand: refused when it names what is not to be written. */
function whyOpaque(part: OpaquePart, boundary: Boundary, world: World): string | null {
  const { text, why, exact = false, shape } = part
  const { root } = boundary
  const cannot = `the call cannot be judged beforehand (${why.slice(0, 200)})`
  if (exact) {
    if (text === '' || text.includes('\0') || /\s/.test(text) || text.length > 4096) return null
    const real = world.resolve(text.startsWith('/') ? text : `${root}/${text}`).real
    const outside = whyOutside(real, boundary)
    // A bare word may be anything; a path that leads out is meant as one.
    return outside === null || (!text.includes('/') && isBelow(real, root) === false)
      ? null
      : `${shown(text)} must not be written: ${outside}, and ${cannot}.`
  }
  if (shape !== undefined) {
    const known = shape.split('\0')[0] ?? ''
    const directory = known.slice(0, known.lastIndexOf('/') + 1) || '/'
    const outside = whyOutside(posix.normalize(`${directory}x`), { ...boundary, package: null })
    if (outside !== null) return `${shown(part.written ?? text)} must not be written: ${outside}.`
  }
  const named = protectedWords.exec(text)?.[0]
  if (named !== undefined) return `${shown(named)} is named, and ${cannot}.`
  return text.includes(boundary.artefacts) ? `the artefact directory is named, and ${cannot}.` : null
}

const protectedWords = /(?<![\w.-])(?:agent\.ya?ml|\.git)(?![\w.-])/i

/** Looks at history and files; what moves refs, the index or the stash is the person's. */
const harmlessGit = new Set(
  'status diff log show blame grep ls-files ls-tree rev-parse describe cat-file shortlog check-ignore apply version help merge-base name-rev rev-list whatchanged diff-tree diff-files'.split(
    ' ',
  ),
)

function whyGit(words: readonly (string | null)[]): string | null {
  const program = words[0]
  if (program === null || program === undefined || posix.basename(program) !== 'git') return null
  const command = gitCommand(words.slice(1))
  if (command === null || harmlessGit.has(command)) return null
  return `git ${command} is not the Editor's to run: the tree stays dirty, and the person commits. Change files with your tools.`
}

function gitCommand(words: readonly (string | null)[]): string | null {
  const valued = ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path']
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]
    if (word === null || word === undefined) return 'with words that are only known when it runs'
    if (valued.includes(word)) at += 1
    else if (!word.startsWith('-')) return word
  }
  return null
}

function isBelow(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`)
}

function shown(path: string): string {
  const visible = path.replaceAll(/[\x00-\x1f\x7f]/g, ' ')
  return `\`${visible.length > 200 ? `${visible.slice(0, 200)}…` : visible}\``
}
