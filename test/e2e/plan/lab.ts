import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TrialRecord } from '../../../src/core/trial.ts'
import type { PlanEvent } from '../../../src/guard/plan/plan-event.ts'
import { type GantryOptions, type GantryResult, gantry } from '../support/gantry.ts'
import { type Files, makeProject, type TestProject } from '../support/project.ts'

/** The example project, committed in its own repository. */
export function examplePlan(files: Files = {}): TestProject {
  const project = makeProject()
  cpSync(join(import.meta.dirname, '../../../examples/guard'), project.dir, { recursive: true })
  project.write(files)
  commitAll(project)
  return project
}

/** A plan, its verification, and a scripted agent called `worker`. */
export function smallPlan(agent: Record<string, unknown>, files: Files = {}): TestProject {
  const project = makeProject({
    'IMPLEMENTATION_PLAN.md': planOf(['First thing', 'Second thing']),
    // Green when every file in done/ says yes.
    'check.sh':
      '#!/bin/sh\nfor file in done/*; do\n  grep -q yes "$file" || { echo "not yes: $file"; exit 1; }\ndone\necho "1 passed"\n',
    'agents/worker.yaml': { name: 'worker', version: '1', ...agent },
    'gantry.yaml': { agents: { worker: { driver: 'scripted', script: 'agents/worker.yaml' } } },
    'done/start': 'yes\n',
    ...files,
  })
  commitAll(project)
  return project
}

export function planOf(titles: readonly string[]): string {
  return `# Plan\n\n## Tasks\n\n${titles.map((title) => `- [ ] ${title}\n`).join('')}\n## Verification\n\n- \`./check.sh\`\n`
}

export function does(title: string, turns: readonly unknown[], more: object = {}): Record<string, unknown> {
  return { when: { prompt_contains: `[ ] ${title}`, ...more }, turns }
}

export const writes = (path: string, content = 'yes\n') => ({ write: { path, content } })

export function git(project: TestProject, ...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: project.dir,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', HOME: project.home, ...identity },
  })
}

export function commitAll(project: TestProject): void {
  if (!existsSync(project.path('.git'))) git(project, 'init', '--quiet', '--initial-branch=main')
  git(project, 'config', 'user.name', 'Somebody')
  git(project, 'config', 'user.email', 'somebody@example.com')
  git(project, 'add', '--all')
  git(project, 'commit', '--quiet', '-m', 'Start')
}

const identity = { GIT_CONFIG_NOSYSTEM: '1' }

export interface PlanResult extends GantryResult {
  readonly events: readonly PlanEvent[]
  readonly end: PlanEvent & { readonly kind: 'plan_ended' }
}

/** `gantry plan run … --json`, parsed. */
export async function planRun(
  project: TestProject,
  argv: readonly string[],
  options: GantryOptions = {},
): Promise<PlanResult> {
  const result = await gantry(project, ['plan', 'run', ...argv, '--json'], options)
  return { ...result, ...readEvents(result) }
}

export function readEvents({ stdout, stderr }: GantryResult): Pick<PlanResult, 'events' | 'end'> {
  const events = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): PlanEvent => JSON.parse(line))
  const end = events.at(-1)
  if (end?.kind !== 'plan_ended') throw new Error(`no end was reported: ${stdout}${stderr}`)
  return { events, end }
}

export function only<Kind extends PlanEvent['kind']>({ events }: Pick<PlanResult, 'events'>, kind: Kind) {
  return events.filter((event): event is Extract<PlanEvent, { kind: Kind }> => event.kind === kind)
}

/** Boxes of the plan, in order. */
export function boxes(project: TestProject, plan = 'IMPLEMENTATION_PLAN.md'): string {
  return [...project.read(plan).matchAll(/^- \[(.)\]/gm)].map(([, mark]) => mark).join('')
}

export function runDir(project: TestProject): string {
  const [newest] = readdirSync(join(project.store, 'runs')).sort().reverse()
  return join(project.store, 'runs', newest ?? '')
}

export function iterationFile(project: TestProject, number: number, name: string): string {
  const id = `iteration-${String(number).padStart(3, '0')}`
  return readFileSync(join(runDir(project), 'trials', id, name), 'utf8')
}

export function iterationRecord(project: TestProject, number: number): TrialRecord {
  return JSON.parse(iterationFile(project, number, 'result.json'))
}
