import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { makeProject, type TestProject } from '../../e2e/support/project.ts'

/** A real agent whose whole work is recorded and replayed. */
export interface ReplaySubject {
  /** In `pinned-agents.ts`. */
  readonly id: string
  readonly driver: string
}

/** Every kind of call, and nothing that is another the next time: each event of it must come again. */
const steadyTurns = [
  // The second ends last in every run: the order of the results is the order in which they end.
  { text: 'I look first.', calls: [{ run: 'cat notes.txt' }, { run: 'sleep 0.3; cat second.txt' }] },
  { calls: [{ write: { path: 'made.txt', content: 'old line\nünï 漢字 🦀\n' } }] },
  { calls: [{ edit: { path: 'made.txt', old: 'old line', new: 'new line' } }] },
  { calls: [{ run: 'echo broken; exit 3' }] },
  { calls: [{ subagent: { prompt: 'SUBTASK: copy the notes', description: 'copy notes' } }] },
  { calls: [{ run: 'cat made.txt last.txt' }] },
  { text: 'All done.' },
]

const subagentTurns = [
  { calls: [{ run: 'cat notes.txt > sub.txt; echo subtask' }] },
  { text: 'Subtask done.' },
]

/** Outputs that are never the same twice: clocks, processes, hashes, temporary names, owners, durations. */
const shakyTurns = [
  // Either of the two may end first.
  { calls: [{ run: 'cat notes.txt' }, { run: 'cat second.txt' }] },
  {
    calls: [{ run: 'git log --oneline; git status --short; git rev-parse HEAD; git rev-parse --short HEAD' }],
  },
  { calls: [{ run: 'date; date -u +%FT%TZ; date +%s; date +%H:%M:%S; uname -a' }] },
  { calls: [{ run: 'ls -la; ls -l --time-style=full-iso' }] },
  // Some agents read the two through two pipes.
  { calls: [{ run: 'for i in 1 2 3 4; do echo out $i; echo err $i >&2; done' }] },
  { calls: [{ run: 'echo "pid $$"; mktemp; mktemp -d; pwd; echo "$HOME" "$TMPDIR"' }] },
  { calls: [{ run: 'echo more >> notes.txt; git commit -qam Second; git log -1; git diff HEAD~1' }] },
  { calls: [{ write: { path: 'made.txt', content: 'made\n' } }] },
  { text: 'All done.' },
]

/** One model for both scenarios, which it tells apart by their prompts. */
const model = {
  rules: [
    { when: { prompt: 'SUBTASK' }, turns: subagentTurns },
    { when: { prompt: 'shaky' }, turns: shakyTurns },
  ],
  turns: steadyTurns,
}

const commitAll = [
  'git init -q -b main',
  'git config user.name Somebody',
  'git config user.email somebody@example.org',
  'git add -A',
  'git commit -q -m First',
].join(' && ')

/** Two scenarios of one agent. With `git` both work in a repository, else only the shaky one. */
export function replayProject(subject: ReplaySubject, { git }: { readonly git: boolean }): TestProject {
  const place = makeProject({
    'model.yaml': model,
    'scenarios/steady.yaml': scenario('steady', git ? [commitAll] : []),
    'scenarios/shaky.yaml': scenario('shaky', [commitAll]),
    ...template('steady'),
    ...template('shaky'),
  })
  putAgent(place, subject, { isScripted: true })
  return place
}

/** The agent with a script for its model, or with nothing behind it but what is replayed. */
export function putAgent(
  place: TestProject,
  { id, driver }: ReplaySubject,
  { isScripted }: { readonly isScripted: boolean },
): void {
  const binary = findAgent(id)?.program
  const agent = { driver, binary, ...(isScripted && { model_script: 'model.yaml' }) }
  place.write({ 'gantry.yaml': { agents: { real: agent } } })
}

function scenario(name: string, commands: readonly string[]): object {
  return {
    name,
    description: 'The agent works on notes.',
    target: { binary: 'cat' },
    template_folder: name,
    setup: { commands },
    task: { prompt: promptOf(name) },
    evaluation: {
      gates: [
        { type: 'file_exists', path: 'made.txt' },
        { type: 'file_contains', path: 'notes.txt', substring: 'first' },
      ],
    },
    run: { timeout_secs: 100 },
  }
}

export function promptOf(name: string): string {
  return `Look at the ${name} notes, then put them in order.`
}

function template(name: string): Record<string, string> {
  return {
    [`fixtures/${name}/AGENTS.md`]: 'Keep the notes in order.\n',
    [`fixtures/${name}/notes.txt`]: 'a first note\n',
    [`fixtures/${name}/second.txt`]: 'a second file\n',
    [`fixtures/${name}/last.txt`]: 'read at last\n',
  }
}

/** Path and content of every file, but for what git keeps for itself. */
export function filesIn(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names
      .filter((name) => !/^\.git(?:\/|$)/.test(name) && statSync(join(directory, name)).isFile())
      .map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  )
}

/** As if the cassettes had been recorded long ago: dates in them are hidden as they were then. */
export function ageCassettes(directory: string): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const path = join(directory, name)
    if (!/(?:cassette|\d{4})\.json$/.test(name)) continue
    const text = readFileSync(path, 'utf8')
    const aged = text.replaceAll(
      /("(?:at|recorded_at)": ?")(\d{4})(-[^"]*")/g,
      (_, key: string, year: string, rest: string) => `${key}${Number(year) - 3}${rest}`,
    )
    if (aged === text) throw new Error(`${path} tells no date`)
    writeFileSync(path, aged)
  }
}
