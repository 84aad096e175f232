import { asObject } from '../../core/json-fields.ts'
import { type CaseProblem, listPlain, problem } from './read-case-text.ts'

/** Directories among the cases that are not cases. */
const others: ReadonlySet<string> = new Set(['results', 'cassettes', 'node_modules'])

const deepest = 12
const most = 10_000

/** Every directory below with a `prompt.md` or a `case.yaml`; other directories group cases. A case contains no other cases. */
export function findCases(root: string) {
  /** Relative to the root of all cases. */
  const cases: string[] = []
  /** Directories with mocks of MCP tools, also relative. */
  const mocks: string[] = []
  const problems: CaseProblem[] = []
  const visit = (below: string, depth: number): void => {
    if (cases.length >= most) return
    const here = below === '' ? root : `${root}/${below}`
    const { files, directories, problems: found } = listPlain(here)
    const inside = (name: string): string => (below === '' ? name : `${below}/${name}`)
    if (directories.includes('mocks')) mocks.push(inside('mocks'))
    if (below !== '' && (files.includes('prompt.md') || files.includes('case.yaml'))) {
      cases.push(below)
      return
    }
    problems.push(...found)
    if (depth === deepest) {
      problems.push(problem('warning', here, 'is nested too deeply; cases below it are ignored'))
      return
    }
    for (const name of directories) if (name !== 'mocks' && !others.has(name)) visit(inside(name), depth + 1)
  }
  visit('', 0)
  if (cases.length >= most)
    problems.push(problem('warning', root, `has ${most} cases or more; the rest is ignored`))
  return { cases: cases.sort(), mocks: mocks.sort(), problems }
}

const usual = 'evals'

/** One directory below another, written as a path of plain names. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9._@+-]*$/

/** Directories whose content Claude Code loads. */
const loaded: ReadonlySet<string> = new Set(['skills', 'agents', 'commands', 'hooks', '.claude-plugin'])

interface EvalDirectory {
  /** Relative to the plugin's root, without a trailing slash. */
  readonly path: string
  /** Why the manifest's value is not used. */
  readonly ignored?: string
}

/** The directory of a plugin's cases: that of the manifest, else `evals`. An unusable value of the manifest is ignored. */
export function evalDirectory(manifest: Readonly<Record<string, unknown>>): EvalDirectory {
  const value = asObject(manifest.experimental)?.evals
  if (value === undefined) return { path: usual }
  const read = typeof value === 'string' ? plainPath(value) : { why: 'it is not a string' }
  if ('path' in read) return read
  return {
    path: usual,
    ignored: `experimental.evals of the manifest, ${JSON.stringify(value)}, is ignored: ${read.why}; cases are read from ${usual}/`,
  }
}

/** The path in its usual form, or why it cannot be used. */
function plainPath(given: string): { readonly path: string } | { readonly why: string } {
  if (given.startsWith('/') || /^[A-Za-z]:/.test(given)) return { why: 'it must be relative to the plugin' }
  const names = given.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..')) return { why: 'it leads out of the plugin' }
  const [first] = names
  if (first === undefined) return { why: 'it names no directory below the plugin' }
  const strange = names.find((name) => !plainName.test(name))
  if (strange !== undefined)
    return { why: `'${strange}' is not a plain name: a letter or digit, then letters, digits, . _ - @ and +` }
  if (loaded.has(first)) return { why: `${first}/ is loaded by Claude Code` }
  return { path: names.join('/') }
}
