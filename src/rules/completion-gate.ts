import { counted } from '../core/counted.ts'
import type { EndState } from '../core/decision.ts'
import type { HookEvent } from '../core/hook-event.ts'
import type { FactName, Note } from '../guard-engine/contract.ts'
import { idleCommands } from '../guard-engine/evidence/declared-commands.ts'
import { type Blockers, findBlockers } from '../guard-engine/gate/find-blockers.ts'
import { blockerWords, refusalText } from '../guard-engine/gate/refusal-text.ts'
import { hasTicked } from '../guard-engine/history/gate.ts'
import { weakenings } from '../guard-engine/tests/look-at-tests.ts'
import { sha256 } from '../io/sha256.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/**
 * Refuses the end of a turn while the tree has changed and is not verified. Bounded: after so many refusals in one prompt the
 * turn ends, and the ledger says that it ended unverified.
 */
export const completionGate: Rule = {
  name: 'completion-gate',
  on: ['session_start', 'prompt', 'subagent_start', 'stop', 'subagent_stop'],
  wants,
  judge,
}

const maxWeakened = 50

function wants({ event, history, settings }: Omit<Scene, 'facts'>): readonly FactName[] {
  const { gate } = history
  if (!settings.checklist.enabled) return []
  switch (event.kind) {
    case 'session_start':
      return gate.baseTree === null ? ['tree', 'project'] : []
    case 'prompt':
      return !event.synthetic && (gate.settled === true || gate.baseTree === null) ? ['tree', 'project'] : []
    case 'subagent_start':
      return ['tree']
    case 'stop':
    case 'subagent_stop':
      if (isNoEnd(event) || gate.settled === true) return []
      return ['tree', 'project', 'tests', ...(settings.checklist.runAtStop ? (['verify'] as const) : [])]
    default:
      return []
  }
}

type Stop = HookEvent & { readonly kind: 'stop' | 'subagent_stop' }

function judge(scene: Scene): RuleAnswer | null {
  const { event, history, settings, facts } = scene
  if (event.kind !== 'stop' && event.kind !== 'subagent_stop') return null
  if (!settings.checklist.enabled || isNoEnd(event) || isOnlyTalk(scene, event)) return null
  const { tree } = facts
  if (tree === null) return broken(event, 'the working tree could not be fingerprinted')
  if (history.gate.waived.includes(tree)) return ended(event, 'WAIVED', tree, 'a person waived this tree')
  const fault = facts.verify.find(({ infra }) => infra)
  const own = ownRuns(scene)
  if (fault !== undefined)
    return withNotes(broken(event, `${fault.command}: ${fault.notCounted ?? 'it did not run'}`), own)
  return withNotes(decideEnd(scene, event, tree), own)
}

/** Background work still runs, or it is the summariser of the agent itself. */
function isNoEnd(event: Stop): boolean {
  return event.background || (event.kind === 'subagent_stop' && event.agentType === '')
}

/** Nothing was done that could be verified. */
function isOnlyTalk({ history, facts }: Scene, event: Stop): boolean {
  const { gate, edits, calls } = history
  if (gate.settled === true) return true
  if (facts.tree !== null && facts.tree === gate.baseTree) return !hasTicked(gate)
  if (event.kind === 'subagent_stop' && event.agentId !== null) {
    const began = Object.hasOwn(gate.subagentTrees, event.agentId) ? gate.subagentTrees[event.agentId] : null
    if (facts.tree !== null && facts.tree === began) return true
  }
  const mayHaveChanged =
    Object.keys(edits.byAgent).length > 0 || calls.recent.some(({ action }) => action !== 'read')
  return gate.baseTree === null && !mayHaveChanged
}

function decideEnd(scene: Scene, event: Stop, tree: string): RuleAnswer {
  const { history, settings } = scene
  const blockers = findBlockers(scene, tree)
  const weakened = settings.checklist.requireTestsPass ? namedWeakenings(scene) : []
  const fresh = weakened.filter(({ key }) => !history.session.warned.includes(key))
  const words = blockerWords(blockers)
  if (words.length === 0 && fresh.length === 0) return passed(scene, event, tree, blockers, weakened)

  const refused = Object.hasOwn(history.gate.refusals, who(event))
    ? (history.gate.refusals[who(event)] ?? 0)
    : 0
  const { maxRefusals } = settings.checklist
  const isAskedOnce = blockers.nothingKnown && words.length === 1 && fresh.length === 0
  const bound = isAskedOnce ? Math.min(1, maxRefusals) : maxRefusals
  if (refused >= bound) {
    const open = [...words, ...weakened.map(({ text }) => `weakened: ${text}`)]
    return ended(
      event,
      'CAPPED',
      tree,
      open.join('; ') || 'the bound is reached',
      cappedNotice(refused, open),
    )
  }
  return {
    refuse: refusalText({
      blockers,
      weakened: fresh.map(({ text }) => text),
      idle: idleCommands({ history, settings, project: scene.facts.project }).map(({ command }) => command),
      number: refused + 1,
      of: bound,
      traits: scene.traits,
      root: event.root,
      program: scene.world.program?.() ?? null,
    }),
    remember: [
      {
        kind: 'refused_stop',
        blockers: [...words, ...fresh.map(({ text }) => `weakened: ${text}`)],
        agentId: event.agentId,
      },
      ...fresh.map(({ key }): Note => ({ kind: 'warned', about: key })),
    ],
  }
}

interface Weakening {
  readonly text: string
  readonly key: string
}

function namedWeakenings({ history, facts }: Scene): readonly Weakening[] {
  const texts = weakenings(history.evidence.tests, facts.tests)
  return texts.slice(0, maxWeakened).map((text) => ({ text, key: `weakened:${sha256(text).slice(0, 16)}` }))
}

function passed(
  scene: Scene,
  event: Stop,
  tree: string,
  { required, isGreen }: Blockers,
  weakened: readonly Weakening[],
): RuleAnswer {
  if (!isGreen) return ended(event, 'WAIVED', tree, 'the settings do not ask for a green run')
  const names = required.map(({ command }) => command).join(', ')
  const weak = weakened.map(({ text }) => text)
  const why = [`green for this tree: ${names}`, ...weak.map((text) => `weakened: ${text}`)].join('; ')
  const notice =
    weak.length === 0
      ? undefined
      : `Gantry guard: verified, but the tests were weakened.\n${weak.map((text) => `- ${text}`).join('\n')}`
  return withNotes(ended(event, 'VERIFIED', tree, why, notice), testsSeen(scene))
}

/** From here on the tests are compared with what they are now. */
function testsSeen({ facts, history }: Scene): readonly Note[] {
  const { tests } = facts
  if (tests === null) return []
  const isKnown =
    history.evidence.testsGreen && JSON.stringify(history.evidence.tests) === JSON.stringify(tests)
  return isKnown ? [] : [{ kind: 'tests_seen', inventory: tests, green: true }]
}

/** What the gate ran itself is evidence for everybody. */
function ownRuns({ facts }: Scene): readonly Note[] {
  return facts.verify.map((run): Note => {
    const { notCounted, infra: _, ...evidence } = run
    return notCounted === undefined
      ? { kind: 'evidence', evidence, by: 'guard', callId: null }
      : { kind: 'no_evidence', command: run.command, why: notCounted }
  })
}

function broken(event: Stop, why: string): RuleAnswer {
  const notice = `Gantry guard: the end of this turn could not be judged (${why}). It counts as INFRA, not as verified.`
  return ended(event, 'INFRA', null, why, notice)
}

function ended(event: Stop, state: EndState, tree: string | null, why: string, notice?: string): RuleAnswer {
  // The end of a subagent answers for its own part only: the main thread is asked about the same tree again.
  const base = event.kind === 'stop' ? tree : null
  const note: Note = { kind: 'ended', state, tree: base, why: why.slice(0, 2_000) }
  return { ...(notice !== undefined && { notice }), remember: [note] }
}

function cappedNotice(refused: number, open: readonly string[]): string {
  const times = counted(refused, 'refusal')
  const list = open.slice(0, 12).map((each) => `- ${each}`)
  return `Gantry guard: CAPPED after ${times}. This turn ends unverified:\n${list.join('\n')}`
}

function withNotes(answer: RuleAnswer, notes: readonly Note[]): RuleAnswer {
  return notes.length === 0 ? answer : { ...answer, remember: [...notes, ...(answer.remember ?? [])] }
}

function who(event: Stop): string {
  return event.agentId ?? 'main'
}
