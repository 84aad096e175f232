import { existsSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { startGantry } from '../support/gantry.ts'
import { smallProject, type TestProject } from '../support/project.ts'
import { linesOf, processesOf, runGantry, runIds, runPath, runTests, shellAgent, until } from './lab.ts'

export interface KillStory {
  readonly trials: number
  /** A slow machine finishes fewer trials between two kills, so it is killed more often, not asked for less. */
  readonly kills: number
  /** Agents that must be seen finished before the last kill. */
  readonly enough: number
}

/** Attempts whose agent had certainly finished: its checkpoint or its result is on disk. */
function finishedAgents(project: TestProject): string[] {
  return runIds(project).flatMap((id) => {
    const dir = runPath(project, id, 'trials')
    if (!existsSync(dir)) return []
    return readdirSync(dir)
      .filter((name) => /^\d{4}-/.test(name))
      .filter((name) =>
        ['checkpoint-agent.json', 'result.json'].some((file) => existsSync(`${dir}/${name}/${file}`)),
      )
      .map((name) => name.split('-').at(-1) ?? '')
  })
}

/** A run that is killed with -9 again and again, and resumed each time. */
export async function playKills({ trials, kills, enough }: KillStory): Promise<void> {
  using project = smallProject({
    config: shellAgent({ env: { PLACE: '.' } }),
    scenario: {
      scripts: { post: [{ command: 'sleep 0.02' }], evaluators: [{ name: 'e', command: 'echo {}' }] },
    },
  })
  project.write({
    'gantry.yaml': shellAgent({ env: { PLACE: project.dir } }),
    'agent.sh': 'echo "$GANTRY_ATTEMPT" >> "$PLACE/starts"; sleep 0.03; echo > done.txt',
  })
  const starts = project.path('starts')
  const startsOf = (attempt: string): number => linesOf(starts).filter((line) => line === attempt).length
  /** How often a finished agent had been started when it was first seen finished. */
  const settled = new Map<string, number>()
  for (let kill = 0; kill < kills || (settled.size < enough && kill < 4 * kills); kill += 1) {
    const resumable = runIds(project).filter((id) => existsSync(runPath(project, id, 'plan.json')))
    const seen = linesOf(starts).length
    const argv =
      resumable[0] === undefined
        ? ['test', '--repeat', String(trials), '--no-cache', '-j', '2']
        : ['test', '--resume', resumable[0]]
    const { child, ended } = startGantry(project, argv)
    // Some of the kills come while the program is starting, the others somewhere in the first few trials.
    if (kill % 7 !== 0)
      await until('a trial has begun', () => linesOf(starts).length > seen || child.exitCode !== null)
    // On a slow machine no agent finishes in that time: the last kills wait for one.
    if (kill >= kills)
      await until(
        'an agent has finished',
        () => child.exitCode !== null || finishedAgents(project).some((attempt) => !settled.has(attempt)),
      )
    await sleep((kill * 37) % 140)
    child.kill('SIGKILL')
    await ended
    await until('the orphans are gone', () => processesOf(project).length === 0)
    for (const attempt of finishedAgents(project))
      if (!settled.has(attempt)) settled.set(attempt, startsOf(attempt))
  }
  const [id] = runIds(project).filter((name) => existsSync(runPath(project, name, 'plan.json')))
  if (id === undefined) throw new Error('no run got as far as its plan')
  expect(settled.size).toBeGreaterThanOrEqual(enough)

  const result = await runTests(project, ['--resume', id])
  expect(result).toMatchObject({ code: 0, stderr: '', run_id: id })
  expect(result.trials.map(({ attempt }) => attempt)).toEqual(
    Array.from({ length: trials }, (_, index) => index + 1),
  )
  expect(result.summary).toMatchObject({ counts: { pass: trials, fail: 0, infra: 0, invalid: 0 }, notRun: 0 })
  for (const [attempt, count] of settled)
    expect(startsOf(attempt), `starts of attempt ${attempt}`).toBe(count)

  const listed = await runGantry(project, ['runs', 'list', '--json'])
  expect(JSON.parse(listed.stdout)).toBeTruthy()
  const published = linesOf(`${project.store}/results.jsonl`)
    .map((line) => JSON.parse(line) as { kind: string; run_id: string; trial_id?: string })
    .filter(({ kind, run_id }) => kind === 'trial' && run_id === id)
  expect(new Set(published.map(({ trial_id }) => trial_id)).size).toBe(trials)
  expect(published).toHaveLength(trials)
}
