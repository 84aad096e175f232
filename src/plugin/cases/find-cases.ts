import { type CaseProblem, problem } from './case-problem.ts'
import { listPlain } from './list-plain.ts'

export interface FoundCases {
  /** Directories of cases, relative to the directory of all, sorted. */
  readonly cases: readonly string[]
  /** Directories with mocks of MCP tools, relative too. */
  readonly mocks: readonly string[]
  readonly problems: readonly CaseProblem[]
}

/** What lies among the cases and is none. */
const others: ReadonlySet<string> = new Set(['results', 'cassettes', 'node_modules'])

const deepest = 12
const most = 10_000

/** Every directory below with a `prompt.md` or a `case.yaml`; other directories group cases. A case holds no other cases. */
export function findCases(root: string): FoundCases {
  const cases: string[] = []
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
      problems.push(problem('warning', here, 'is nested too deeply; nothing below it is looked at'))
      return
    }
    for (const name of directories) if (name !== 'mocks' && !others.has(name)) visit(inside(name), depth + 1)
  }
  visit('', 0)
  if (cases.length >= most)
    problems.push(problem('warning', root, `holds ${most} cases or more; what comes after them is left out`))
  return { cases: cases.sort(), mocks: mocks.sort(), problems }
}
