import { expect } from 'vitest'
import { linesOf, onlyRun } from '../robustness/lab.ts'
import { gantryTest } from '../support/gantry.ts'
import { smallProject, type TestProject } from '../support/project.ts'
import { type Anthropic, scoreOf } from './anthropic.ts'

/** Two dollars and ten dollars a million tokens; a batch takes half: 1,000 in and 100 out. */
export const ordinaryUsd = (1_000 * 2 + 100 * 10) / 1e6
export const batchedUsd = ordinaryUsd / 2

export const agentUsd = 0.01

export const withJudge = ['--judge-model', 'anthropic:claude-sonnet-5-5', '--no-cache']

/**
 * A judged scenario and an agent that leaves a line in `starts`, costs a cent, and writes a file of which the judge can
 * tell the attempt.
 */
export function judgedProject({
  judge = {},
  agent = 'true',
  scenario = {},
  costUsd = agentUsd,
}: {
  readonly judge?: Record<string, unknown>
  readonly agent?: string
  readonly scenario?: Record<string, unknown>
  readonly costUsd?: number
} = {}): TestProject {
  const project = smallProject({
    scenario: {
      evaluation: {
        gates: [{ type: 'file_exists', path: 'done.txt' }],
        judge: { enabled: true, rubric: 'rubric.yaml', pass_threshold: 0, ...judge },
      },
      ...scenario,
    },
    files: {
      'rubric.yaml': { criteria: [{ id: 'complete', weight: 1, description: 'All is there.' }] },
      'agent.sh': [
        'echo "$GANTRY_ATTEMPT" >> "$PLACE/starts"',
        agent,
        'echo "attempt-$GANTRY_ATTEMPT" > done.txt',
        `echo '{"event":"usage","input_tokens":10,"output_tokens":1,"cost_usd":${costUsd}}'`,
      ].join('\n'),
    },
  })
  project.write({
    'gantry.yaml': {
      agents: {
        worker: {
          driver: 'command',
          command: ['sh', './agent.sh'],
          output: 'events',
          env: { PLACE: project.dir },
        },
      },
    },
  })
  return project
}

export const attempts = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)

export const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b)

/** A run whose judge is asked in one batch, however few trials there are. */
export const judged = (trials: number): string[] => [
  'test',
  ...withJudge,
  ...['--repeat', String(trials), '-j', '4', '--judge-batch', trials < 50 ? 'always' : 'auto'],
]

/** Resumed, the run ends as if nothing had happened: one batch, every agent once, every answer with its trial. */
export async function expectWhole(project: TestProject, server: Anthropic, trials: number): Promise<void> {
  const run = await gantryTest(project, ['--resume', onlyRun(project)], { env: server.env })
  expect(run.summary.counts).toMatchObject({ pass: trials })
  expect(server.batches.map(sorted)).toEqual([attempts(trials)])
  expect(server.ordinary).toEqual([])
  expect(server.cancelled).toEqual([])
  expect(sorted(linesOf(project.path('starts')).map(Number))).toEqual(attempts(trials))
  for (const { attempt, judge } of run.trials)
    expect(judge).toMatchObject({ weighted_score: scoreOf(attempt), costUsd: batchedUsd })
}
