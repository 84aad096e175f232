import type { ComponentType } from '../../../src/plugin/contract.ts'
import type { ConflictSeverity } from '../../../src/plugin/evaluate/contract.ts'
import type { PluginScenario } from '../../../src/plugin/generate/contract.ts'

/** One way in which a model can treat a component of the kitchen, and what an evaluation must make of it. */
export interface Behaviour {
  readonly id: string
  readonly component_type: ComponentType
  readonly component_ref: string
  /** Typed in place of a plain request, such as a command. */
  readonly typed?: string
  readonly expected_trigger: boolean
  /** The answers of the model, and of the subagent it starts. */
  readonly turns: readonly object[]
  readonly inside?: readonly object[]
  readonly needs_tools?: readonly string[]
  readonly expect: Expectation
}

interface Expectation {
  readonly triggered: boolean
  readonly severity: ConflictSeverity
  /** Everything that fired, `type:name`, in the order in which it did. */
  readonly fired: readonly string[]
}

const done = { text: 'Done.' }
const look = (path: string): object => ({ calls: [{ read: { path } }] })
const call = (...calls: readonly object[]): object => ({ calls })
const skill = (name: string): object => ({ tool: { name: 'Skill', input: { skill: `kitchen:${name}` } } })
const agent = (name: string): object => ({
  subagent: { type: `kitchen:${name}`, prompt: 'A small thing to do.', description: 'helps' },
})
const server = (name: string): object => ({
  tool: { name: `mcp__plugin_kitchen_${name}__forecast`, input: { city: 'Oslo' } },
})
const write: object = { write: { path: 'made.txt', content: 'made\n' } }
const run: object = { run: 'true' }
/** The prompt of a subagent, for its own rule. */
const errand = (id: string): string => `Errand of ${id}: go and do it.`
const general = (id: string): object => ({
  subagent: { type: 'general-purpose', prompt: errand(id), description: 'goes' },
})

interface Kind {
  readonly type: ComponentType
  /** The one that is expected, and its neighbour of the same type. */
  readonly names: readonly [string, string]
  readonly fire: (name: string) => object
  /** One of another type that fires in its place. */
  readonly instead: { readonly call: object; readonly id: string }
  readonly needs_tools?: readonly string[]
}

const kinds: readonly Kind[] = [
  {
    type: 'skill',
    names: ['brew-tea', 'bake-bread'],
    fire: skill,
    instead: { call: agent('taster'), id: 'agent:taster' },
  },
  {
    type: 'agent',
    names: ['taster', 'gardener'],
    fire: agent,
    instead: { call: skill('brew-tea'), id: 'skill:brew-tea' },
  },
  {
    type: 'command',
    names: ['set-table', 'tidy/clean'],
    fire: (name) => skill(name.replace('/', ':')),
    instead: { call: server('pantry'), id: 'mcp_server:pantry' },
  },
  {
    type: 'hook',
    names: ['PreToolUse::Write|Edit', 'PreToolUse::Bash'],
    fire: (name) => (name.endsWith('Bash') ? run : write),
    instead: { call: skill('bake-bread'), id: 'skill:bake-bread' },
    needs_tools: ['Write', 'Bash'],
  },
  {
    type: 'mcp_server',
    names: ['pantry', 'cellar'],
    fire: server,
    instead: { call: skill('brew-tea'), id: 'skill:brew-tea' },
  },
]

/** The other component fires too, where both are asked for in one answer. */
function behavioursOf({ type, names: [own, other], fire, instead, needs_tools }: Kind): readonly Behaviour[] {
  const self = `${type}:${own}`
  const make = (
    name: string,
    turns: readonly object[],
    expect: Expectation,
    more: Partial<Behaviour> = {},
  ): Behaviour => ({
    id: `how-${type.replace('_', '-')}-${name}`,
    component_type: type,
    component_ref: own,
    expected_trigger: true,
    turns: [...turns, done],
    expect,
    ...(needs_tools !== undefined && { needs_tools }),
    ...more,
  })
  const id = `how-${type.replace('_', '-')}-inside`
  return [
    make('rightly', [call(fire(own))], { triggered: true, severity: 'none', fired: [self] }),
    make('wrongly', [call(fire(other))], { triggered: false, severity: 'high', fired: [`${type}:${other}`] }),
    make('late', [look('first.txt'), look('second.txt'), call(fire(own))], {
      triggered: true,
      severity: 'none',
      fired: [self],
    }),
    make('twice', [call(fire(own)), call(fire(own))], { triggered: true, severity: 'none', fired: [self] }),
    make('instead', [call(instead.call)], { triggered: false, severity: 'high', fired: [instead.id] }),
    make('and-a-neighbour', [call(fire(own)), call(fire(other))], {
      triggered: true,
      severity: 'medium',
      fired: [self, `${type}:${other}`],
    }),
    make('and-another-type', [call(fire(own)), call(instead.call)], {
      triggered: true,
      severity: 'low',
      fired: [self, instead.id],
    }),
    make(
      'inside',
      [call(general(id))],
      { triggered: true, severity: 'none', fired: ['agent:general-purpose', self] },
      { inside: [call(fire(own)), done] },
    ),
    make('never', [], { triggered: false, severity: 'none', fired: [] }),
    make(
      'unasked',
      [call(fire(own))],
      { triggered: true, severity: 'none', fired: [self] },
      { expected_trigger: false },
    ),
    make('rightly-quiet', [], { triggered: false, severity: 'none', fired: [] }, { expected_trigger: false }),
  ]
}

const typed: readonly Behaviour[] = [
  {
    id: 'how-command-typed',
    component_type: 'command',
    component_ref: 'set-table',
    typed: '/kitchen:set-table four',
    expected_trigger: true,
    turns: [done],
    expect: { triggered: true, severity: 'none', fired: ['command:set-table'] },
  },
  {
    id: 'how-command-typed-namespaced',
    component_type: 'command',
    component_ref: 'tidy/clean',
    typed: '/kitchen:tidy:clean now',
    expected_trigger: true,
    turns: [done],
    expect: { triggered: true, severity: 'none', fired: ['command:tidy/clean'] },
  },
  {
    id: 'how-command-typed-unknown',
    component_type: 'command',
    component_ref: 'set-table',
    typed: '/kitchen:set-tabel four',
    expected_trigger: true,
    turns: [done],
    expect: { triggered: false, severity: 'none', fired: [] },
  },
]

export const behaviours: readonly Behaviour[] = [...kinds.flatMap(behavioursOf), ...typed]

/** Passes exactly when what fired is what was expected to. A hook whose tool was never called was not tried. */
export function verdictOf({
  component_type,
  expected_trigger,
  expect,
}: Behaviour): 'pass' | 'fail' | 'invalid' {
  if (component_type === 'hook' && expected_trigger && !expect.triggered) return 'invalid'
  return expect.triggered === expected_trigger ? 'pass' : 'fail'
}

type Written = Pick<
  PluginScenario,
  'id' | 'component_ref' | 'component_type' | 'scenario_type' | 'user_prompt'
> &
  Pick<PluginScenario, 'expected_trigger' | 'files' | 'needs_tools'>

export function scenariosFile(list: readonly Behaviour[]): { readonly scenarios: readonly Written[] } {
  return { scenarios: list.map(scenario) }
}

function scenario(behaviour: Behaviour): Written {
  const { id, component_ref, component_type, expected_trigger, needs_tools } = behaviour
  return {
    id,
    component_ref,
    component_type,
    scenario_type: expected_trigger ? 'direct' : 'negative',
    user_prompt: promptOf(behaviour),
    expected_trigger,
    files: { 'first.txt': 'one\n', 'second.txt': 'two\n' },
    ...(needs_tools !== undefined && { needs_tools }),
  }
}

function promptOf({ id, typed: words }: Pick<Behaviour, 'id' | 'typed'>): string {
  return words ?? `Something for the table, please. (${id})`
}

interface ModelScript {
  readonly turns: readonly object[]
  readonly rules: readonly object[]
}

/** One script for all of them: each is recognized by its prompt, in a new or a cleared session. */
export function modelScript(list: readonly Behaviour[]): ModelScript {
  return {
    turns: [done],
    rules: list.flatMap((behaviour) => [
      ...(behaviour.inside === undefined
        ? []
        : [{ when: { prompt: errand(behaviour.id) }, turns: behaviour.inside }]),
      ...(behaviour.typed === undefined
        ? [{ when: { prompt: `(${behaviour.id})` }, turns: behaviour.turns }]
        : []),
    ]),
  }
}
