import { afterAll, beforeAll, expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { type Block, endpointVariables, type Responder } from '../../../src/models/boundary/contract.ts'
import { openBoundary } from '../../../src/models/boundary/open-boundary.ts'
import { answersIn, opening } from '../../../src/models/boundary/script/subagent-wait.ts'
import type { CostEstimate } from '../../../src/plugin/pipeline/paid-estimate.ts'
import { evaluated } from '../../e2e/plugin/lab.ts'
import { gantry } from '../../e2e/support/gantry.ts'
import { makeProject } from '../../e2e/support/project.ts'
import { whenInstalled } from '../support/when-installed.ts'

const pretend = 'It explains how the team does this kind of work, step by step, and what to look out for. '

const skill = (plugin: string, name: string, lines: number): Readonly<Record<string, string>> => ({
  [`${plugin}/skills/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: Use when the user asks to "${name} the report" or wants help with ${name} in a project. ${pretend.repeat(3)}\n---\n${pretend.repeat(lines)}\n`,
})

const words = ['polish', 'audit', 'translate', 'summarise', 'index', 'archive', 'compare', 'publish'] as const

/** Of different size: components, the length of what they load, arms, and who decides. */
const plugins = {
  small: {
    files: {
      ...skill('small', 'polish', 5),
      'small/commands/ship.md': '---\ndescription: Ships it.\n---\nShip.\n',
    },
    config: { generation: { scenarios_per_component: 5 } },
    arms: ['alone'],
  },
  middle: {
    files: {
      ...skill('middle', 'audit', 40),
      ...skill('middle', 'translate', 20),
      'middle/agents/reviewer.md': `---\nname: reviewer\ndescription: Use this agent to review code after a change. ${pretend}\n---\n${pretend.repeat(20)}\n`,
      'middle/hooks/hooks.json': JSON.stringify({
        hooks: { PreToolUse: [{ matcher: 'Write', hooks: [{ type: 'command', command: 'true' }] }] },
      }),
    },
    config: { generation: { scenarios_per_component: 3 }, evaluation: { detection_mode: 'llm_only' } },
    arms: ['without', 'alone'],
  },
  large: {
    files: Object.assign({}, ...words.map((name) => skill('large', name, 80))),
    config: { generation: { scenarios_per_component: 3 } },
    arms: ['alone'],
  },
} as const

whenInstalled(['claude-code'], 'the estimate of an evaluation', () => {
  const boundary = openBoundary({})
  let env: Readonly<Record<string, string>>
  beforeAll(async () => {
    env = endpointVariables((await boundary).open({ responder: meteredModel() }).endpoint)
  })
  afterAll(async () => (await boundary).close())

  test.each(Object.keys(plugins) as (keyof typeof plugins)[])(
    'is within twice of what was spent, for a %s plugin in total and in every stage',
    async (name) => {
      const { files, config, arms } = plugins[name]
      using project = makeProject({
        ...files,
        [`${name}/.claude-plugin/plugin.json`]: JSON.stringify({ name, version: '1.0.0', description: 'x' }),
      })
      project.write({
        'gantry.yaml': {
          agents: { real: { driver: 'claude-code', binary: findAgent('claude-code')?.program } },
          plugin: {
            plugin: { path: name },
            scope: { hooks: true },
            execution: { agent: 'real', arms },
            ...config,
          },
        },
      })
      const argv = ['run', '--no-batch', '-j', '2']
      const planned = await gantry(project, ['plugin', ...argv, '--dry-run', '--json'], { env })
      const { estimate } = JSON.parse(planned.stdout) as { readonly estimate: CostEstimate }
      const { document, trials } = await evaluated(project, argv, { env })
      const { costs } = document.summary
      const spent: Readonly<Record<string, number | null>> = {
        generation: costs.generation_cost_usd,
        execution: costs.execution_cost_usd,
        evaluation: costs.evaluation_cost_usd,
        total: costs.total_cost_usd,
      }
      const expected = [
        ...estimate.stages.map(({ stage, estimated_cost_usd: usd }) => [stage, usd] as const),
        ['total', estimate.total_estimated_cost_usd] as const,
      ]
      const ratios = expected.map(([stage, usd]) => [stage, (usd ?? 0) / (spent[stage] ?? 0)] as const)
      expect(trials).toHaveLength(estimate.trials)
      for (const [stage, ratio] of ratios) {
        // Where the traces of all trials are clear, no judge is asked: what is reserved for one is not spent.
        if (stage === 'evaluation' && spent.evaluation === 0) continue
        expect(ratio, `${stage} of ${name}`).toBeGreaterThan(0.5)
        expect(ratio, `${stage} of ${name}`).toBeLessThan(2)
      }
    },
  )
})

/**
 * A provider that counts as Anthropic does: a prefix of a request that an earlier one marked for the cache is read from it, up to the last
 * mark it is written, and the rest is plain input. What it answers is as long as the answers of a real model.
 */
function meteredModel(): Responder {
  const cached = new Set<string>()
  const prompts = new Map<string, string | null>()
  let calls = 0
  return {
    name: 'metered',
    answer: async ({ call, http }) => {
      const usage = countInput(JSON.parse(Buffer.from(http.body).toString()), cached)
      const reply = (blocks: readonly Block[], thinking: number) => {
        const output = Math.ceil(JSON.stringify(blocks).length / bytesPerToken) + thinking
        const isCall = blocks.some(({ kind }) => kind === 'tool_call')
        const turn = { blocks, stop: isCall ? ('tools' as const) : ('end' as const) }
        return { kind: 'turn' as const, turn: { ...turn, usage: { ...usage, output } } }
      }
      const said = (text: string): readonly Block[] => [{ kind: 'text', text }]
      if (call.system.includes('You write test scenarios'))
        return reply(said(scenariosFor(call.messages.at(-1)?.text ?? '', prompts)), 500)
      if (call.system.includes('You judge one session')) return reply(said(judgement), 200)
      const asked = opening(call)
      const found = [...prompts].find(([prompt]) => asked.includes(prompt))
      const component =
        found?.[1] ?? (asked.includes('Write') && !call.system.includes('reviewer') ? 'write' : null)
      if (answersIn(call) > 0 || component == null || call.tools.length === 0)
        return reply(said(pretend.repeat(call.tools.length === 0 ? 1 : 8)), 60)
      const use = useOf(component)
      if (!call.tools.includes(use.name)) return reply(said(pretend.repeat(8)), 60)
      return reply(
        [
          ...said('I will look at how this is done here.'),
          { kind: 'tool_call', id: `toolu_${++calls}`, ...use },
        ],
        60,
      )
    },
  }
}

function useOf(component: string): { readonly name: string; readonly input: unknown } {
  if (component === 'write') return { name: 'Write', input: { file_path: 'note.txt', content: pretend } }
  if (component.endsWith('reviewer'))
    return {
      name: 'Agent',
      input: {
        subagent_type: component,
        description: 'review it',
        prompt: pretend,
        run_in_background: false,
      },
    }
  return { name: 'Skill', input: { skill: component } }
}

/** Of English text and JSON, for the models of today. */
const bytesPerToken = 3.6

interface CachedBlock {
  readonly type?: string
  readonly cache_control?: unknown
}

/** The parts of a request in the order in which they are cached: tools, system text, messages. */
function countInput(
  body: {
    readonly tools?: readonly CachedBlock[]
    readonly system?: string | readonly CachedBlock[]
    readonly messages?: readonly {
      readonly role: string
      readonly content: string | readonly CachedBlock[]
    }[]
  },
  cached: Set<string>,
) {
  const list = (part: string | readonly CachedBlock[] = []): readonly CachedBlock[] =>
    typeof part === 'string' ? [{ type: 'text', ...{ text: part } }] : part
  const blocks: readonly CachedBlock[] = [
    ...(body.tools ?? []),
    ...list(body.system),
    ...(body.messages ?? []).flatMap(({ content }) => list(content)),
  ]
  let [text, read, marked] = ['', 0, 0]
  for (const { cache_control: mark, ...block } of blocks) {
    text += JSON.stringify(block)
    if (cached.has(text)) read = text.length
    if (mark === undefined) continue
    marked = text.length
    cached.add(text)
  }
  const tokens = (bytes: number) => Math.ceil(Math.max(0, bytes) / bytesPerToken)
  const end = Math.max(read, marked)
  return { input: tokens(text.length - end), cacheRead: tokens(read), cacheWrite: tokens(end - read) }
}

/** One scenario for every slot, and which component the agent is to take for it. */
function scenariosFor(prompt: string, prompts: Map<string, string | null>): string {
  const name = /"name": "([^"]+)"/.exec(prompt)?.[1] ?? ''
  const plugin = /"plugin": "([^"]+)"/.exec(prompt)?.[1] ?? ''
  const scenarios = [...prompt.matchAll(/^- (s\d+): (\w+), idea (b\d+)/gm)].map(
    ([, slot = '', type = '', base = '']) => {
      const user_prompt = `${plugin} ${slot}${base}: ${texts[prompts.size % texts.length]} ${name} number ${prompts.size}`
      prompts.set(user_prompt, type === 'negative' ? null : `${plugin}:${name}`)
      return {
        slot,
        base_id: base,
        scenario_type: type,
        user_prompt,
        expected_trigger: type !== 'negative',
        reasoning: 'What the user wants is what the description of the component promises to do.',
        original_trigger_phrase: type === 'semantic' ? `${name} the report` : null,
        semantic_variation_type: type === 'semantic' ? 'synonym' : null,
        neighbour: null,
        setup_messages:
          type === 'proactive'
            ? [
                { role: 'user', content: 'I have just finished the draft of our quarterly numbers.' },
                { role: 'assistant', content: 'Good. Everything is saved.' },
              ]
            : null,
      }
    },
  )
  const ideas = [...new Set(scenarios.map(({ base_id }) => base_id))].map((id) => ({ id, idea: pretend }))
  return JSON.stringify({ ideas, scenarios })
}

const texts = [
  'Our board meets on Monday and the figures must be right before they read them, so please do this:',
  'Somebody in accounting keeps asking for it and I have no idea where to begin. Can you handle',
  'While the build is running, take the three chapters in docs and do the usual with them:',
  'My colleague is ill, the customer waits, and all I found is last year’s version. Quick:',
  'Before lunch we need a decision about the four candidates from Lisbon, hence my wish:',
  'Could this old wiki page become something that newcomers enjoy? I think of',
  'Tests pass, the tag is set, nobody complains. What remains is the boring part,',
  'In the folder called misc there are nine spreadsheets that no human has opened since May;',
]

const judgement = JSON.stringify({
  triggered: true,
  trigger_accuracy: 'correct',
  quality_score: 8,
  response_relevance: 8,
  issues: ['The answer repeats itself in places.'],
  highlights: [{ description: 'It fired at once.', message_id: 'msg_1', quoted_text: pretend }],
  summary: 'The component fired when it should have, and the answer is about what the user asked for.',
})
