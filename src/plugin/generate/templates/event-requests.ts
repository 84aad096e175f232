import type { HookComponent } from '../../analyze/contract.ts'
import { hookMatches, readMatcher } from '../../analyze/matcher.ts'
import { requestTemplates, workspaceFiles } from './request-templates.ts'
import { type HookPrompt, type HookPrompts, type HookSurroundings, skipped } from './tool-event-requests.ts'

type Maker = (hook: HookComponent, surroundings: HookSurroundings) => HookPrompts

/** Requests for events that are not about one tool. An unknown event gets an ordinary task. */
export function requestsOfEvent(hook: HookComponent, surroundings: HookSurroundings): HookPrompts {
  const { impossible_events: impossible } = requestTemplates
  const why = Object.hasOwn(impossible, hook.event) ? impossible[hook.event] : undefined
  if (why !== undefined) return skipped(why)
  const make = Object.hasOwn(makers, hook.event) ? makers[hook.event] : undefined
  return (make ?? ordinaryTask)(hook, surroundings)
}

const readmeTask = 'Read README.md and tell me in one sentence what it says.'

const ordinaryTask: Maker = () =>
  requests(fires('task', readmeTask, { files: workspaceFiles(['README.md']) }))

/** Short requests that end quickly. */
const twoTasks: Maker = () =>
  requests(
    fires('sum', 'What is 17 plus 25? Answer with the number alone.'),
    fires('word', 'Say the word hello.'),
  )

const twoQuestions: Maker = () =>
  requests(
    fires('question', 'What is the difference between a list and a set?'),
    fires('advice', 'What should I look out for when I rename a function that is used in many places?'),
  )

/** Sessions of an evaluation are started fresh, or cleared between two scenarios. */
const sessionStart: Maker = ({ matcher }) =>
  fitsOne(matcher, ['startup', 'clear'])
    ? requests(fires('greeting', 'Hello! What can you do for me today?'))
    : skipped(
        'the sessions of an evaluation start fresh or are cleared; its matcher fits neither startup nor clear',
      )

const sessionEnd: Maker = ({ matcher }) =>
  fitsOne(matcher, ['clear', 'other'])
    ? requests(fires('greeting', 'Hello, and goodbye: that was all I wanted.'))
    : skipped('the sessions of an evaluation end by clear or other; its matcher fits neither')

/** A matching agent of the plugin, or a built-in one. */
const subagents =
  (count: 1 | 2): Maker =>
  ({ matcher }, { components }) => {
    const types = [...components.agents.map(({ cli_name }) => cli_name), 'general-purpose', 'Explore']
    const agent =
      readMatcher(matcher).kind === 'all'
        ? 'general-purpose'
        : types.find((type) => hookMatches(matcher, type))
    if (agent === undefined) return skipped('its matcher matches no agent of the plugin and no built-in one')
    const more = { tools: ['Agent', 'Task'], files: workspaceFiles(['README.md', 'notes.txt']) }
    const two = [
      fires(
        'count',
        `Start the ${agent} subagent and let it count the files of this directory. Wait for its answer.`,
        more,
      ),
      fires('summary', `Let the ${agent} subagent read README.md, and tell me what it says about it.`, more),
    ]
    return requests(...two.slice(0, count))
  }

/** A command or skill that a user types is expanded. */
const expansion: Maker = ({ matcher }, { components }) => {
  const typed = [
    ...components.commands.map(({ cli_name, invocation }) => ({ name: cli_name, invocation })),
    ...components.skills
      .filter(({ user_invocable }) => user_invocable)
      .map(({ cli_name }) => ({ name: cli_name, invocation: `/${cli_name}` })),
  ].find(({ name }) => hookMatches(matcher, name))
  return typed === undefined
    ? skipped('the plugin has no command that fits, and nothing else is expanded')
    : requests(fires('command', typed.invocation))
}

const compaction: Maker = ({ matcher }) =>
  hookMatches(matcher, 'manual')
    ? requests(fires('compact', '/compact', { setup: requestTemplates.earlier_messages }))
    : skipped('a scenario is too short for an automatic compaction, and its matcher does not fit manual')

/** Reading a file loads the instructions file beside it. */
const instructions: Maker = ({ matcher }) =>
  hookMatches(matcher, 'nested_traversal')
    ? requests(
        fires('nested', 'Read docs/guide.md and tell me in one sentence what it says.', {
          files: {
            'docs/CLAUDE.md': 'Guides are written for beginners.\n',
            'docs/guide.md': '# Guide\n\nStart with the readme.\n',
          },
        }),
      )
    : skipped('of its load reasons, only nested_traversal can be triggered')

const makers: Readonly<Record<string, Maker>> = {
  Stop: twoTasks,
  SubagentStop: subagents(2),
  SubagentStart: subagents(1),
  SessionStart: sessionStart,
  SessionEnd: sessionEnd,
  UserPromptSubmit: twoQuestions,
  UserPromptExpansion: expansion,
  PreCompact: compaction,
  PostCompact: compaction,
  InstructionsLoaded: instructions,
  PostToolBatch: ordinaryTask,
  MessageDisplay: ordinaryTask,
}

function requests(...made: readonly HookPrompt[]): HookPrompts {
  return { kind: 'requests', requests: made }
}

function fires(
  suffix: string,
  prompt: string,
  more: Pick<HookPrompt, 'files' | 'tools' | 'setup'> = {},
): HookPrompt {
  return { suffix: `${suffix}-direct`, prompt, fires: true, reasoning: 'It makes the event happen.', ...more }
}

function fitsOne(matcher: string | null, values: readonly string[]): boolean {
  return values.some((value) => hookMatches(matcher, value))
}
