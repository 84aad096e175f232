import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { findAgent } from '../scripts/agent-cache.ts'
import type { Execution, SessionStrategy } from '../src/plugin/execute/contract.ts'
import { makeDemoPlugin } from '../test/support/demo-plugin.ts'
import { type ExecuteLab, openExecuteLab, scenarioOf } from '../test/support/execute-lab.ts'
import { compare, type Figure } from './figure.ts'

const scenarioCount = 20
const name = `${scenarioCount} plugin scenarios of one skill in one session, -j 1`

/** The same scenarios in one live session that is cleared between them, against a process of Claude Code for each. */
export async function pluginSessions(): Promise<Figure> {
  const claude = findAgent('claude-code')
  if (claude?.program == null) {
    const limit = 'not measured: claude-code not installed (scripts/install-agents.ts)'
    return { name, limit, ratio: Number.NaN, ok: process.env.CI !== 'true', detail: {} }
  }
  const lab = openExecuteLab(claude.program)
  try {
    const captured: Record<SessionStrategy, unknown> = { batched_by_component: null, isolated: null }
    const run = async (strategy: SessionStrategy): Promise<void> => {
      captured[strategy] = await capturesOf(lab, strategy)
    }
    const figure = await compare({
      name,
      // Three times as fast.
      atMost: 1 / 3,
      baseline: 'isolated sessions',
      rounds: 2,
      ours: () => run('batched_by_component'),
      theirs: () => run('isolated'),
    })
    if (!isDeepStrictEqual(captured.batched_by_component, captured.isolated))
      throw new Error('the two strategies captured different things')
    return { ...figure, limit: 'at most 0.33x isolated sessions' }
  } finally {
    await lab.close()
  }
}

async function capturesOf(lab: ExecuteLab, session_strategy: SessionStrategy): Promise<unknown> {
  const skill = { component_type: 'skill', component_ref: 'greet' } as const
  const scenarios = Array.from({ length: scenarioCount }, (_, index) =>
    scenarioOf(
      `greet-${index}`,
      index % 4 === 3 ? `Tell me a number, ${index}.` : `GREET number ${index}.`,
      skill,
    ),
  )
  const { executions, report } = await lab.run({
    plugin: makeDemoPlugin(join(lab.dir, 'plugin')),
    scenarios,
    config: { execution: { session_strategy }, max_concurrent: 1 },
    script: {
      turns: [{ text: 'Seven.' }],
      rules: [
        {
          when: { prompt: 'GREET' },
          turns: [
            { calls: [{ tool: { name: 'Skill', input: { skill: 'demo:greet' } } }] },
            { text: 'Hello.' },
          ],
        },
      ],
    },
  })
  if (report.executed !== scenarioCount || report.infra + report.invalid > 0)
    throw new Error(`the scenarios could not be tried: ${JSON.stringify(report)}`)
  return executions.map(whatFired)
}

function whatFired({
  trial,
  detected_tools,
  hook_responses,
  expansions,
  final_text,
  termination_type,
}: Execution) {
  return {
    trial: trial.id,
    tools: detected_tools.map((capture) => ({ ...capture, timestamp: 0 })),
    hooks: hook_responses.map(({ hook_name, outcome, stdout, stderr }) => ({
      hook_name,
      outcome,
      stdout,
      stderr,
    })),
    expansions,
    final_text,
    termination_type,
  }
}
