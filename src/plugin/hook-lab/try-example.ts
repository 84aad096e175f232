import type { HookComponent } from '../analyze/contract.ts'
import { componentId } from '../component-list.ts'
import { handlerFires } from './choose-events.ts'
import type { HookDecision, HookEffect, HookExampleResult, SimulatedEvent } from './contract.ts'
import { whyNeverStarted } from './event-effects.ts'
import { exampleEvent, type FoundExample, type HookExample } from './hook-examples.ts'
import { withoutPlaces } from './lab-place.ts'
import { inPlace, type LabRun } from './lab-run.ts'
import { tryHandler, whyNotTestable } from './try-handler.ts'

/** One of the author's examples: all hooks that fire for it, at the same time and in the same place, as Claude Code runs them. */
export async function tryExample(
  { example, source }: FoundExample,
  groups: readonly HookComponent[],
  labRun: LabRun,
): Promise<HookExampleResult> {
  return inPlace(labRun, async (place) => {
    const event = exampleEvent(example, place, labRun.names)
    const firing = groups.flatMap((group) => firingHandlers(group, event, labRun))
    const answers = await Promise.all(
      firing.map(async ({ handler }) => (await tryHandler(handler, event, { ...labRun, place })).answer),
    )
    const failed = judgeExample(example, answers)
    const { decision, text } = strictest(answers)
    const clean = withoutPlaces(place)
    const blamed = firing[0]?.group ?? groups.find((group) => group.event === example.event)
    if (failed !== null && blamed !== undefined) {
      const noticed = { code: 'HOOK_EXAMPLE_FAILED', detail: clean(`${source}: ${failed}`) } as const
      labRun.log.note({ group: blamed, handler: null }, noticed, source)
    }
    return {
      source,
      event: example.event,
      expected: example.expect,
      passed: failed === null,
      decision,
      text: text === null ? null : clean(text),
      message: clean(failed ?? `${decision}, as expected`),
      fired: firing.map(({ group, index }) => `${componentId('hook', group.name)}[${index}]`),
    }
  })
}

function firingHandlers(group: HookComponent, event: SimulatedEvent, labRun: LabRun) {
  return group.handlers.flatMap((handler, index) => {
    const runs = handlerFires(group, handler, event) && whyNeverStarted(group.event, handler) === null
    return runs && whyNotTestable(handler, labRun) === null ? [{ group, handler, index }] : []
  })
}

/** The combined decision of all hooks that fired: the strictest wins. */
export function strictest(answers: readonly HookEffect[]): HookEffect {
  const sorted = answers.toSorted((a, b) => strictness.indexOf(a.decision) - strictness.indexOf(b.decision))
  return sorted[0] ?? { decision: 'none', text: null, noticed: [] }
}

const strictness: readonly HookDecision[] = ['deny', 'block', 'ask', 'modify', 'context', 'allow', 'none']

/** Why an example fails; null when it passes. */
export function judgeExample(
  { expect, contains }: HookExample,
  answers: readonly HookEffect[],
): string | null {
  const { decision } = strictest(answers)
  if (!fits(expect, decision, answers)) return `expected ${expect}, got ${decision}`
  if (contains === undefined) return null
  const words = answers.flatMap(({ text, change }) => [
    text ?? '',
    change === undefined ? '' : JSON.stringify(change),
  ])
  return words.some((text) => text.includes(contains))
    ? null
    : `${decision}, but no reason, context or change contains '${contains}'`
}

function fits(
  expected: HookExample['expect'],
  decision: HookDecision,
  answers: readonly HookEffect[],
): boolean {
  const isRefused = decision === 'deny' || decision === 'block'
  switch (expected) {
    case 'deny':
    case 'block':
      return isRefused
    case 'allow':
      return !isRefused && decision !== 'ask'
    case 'context':
    case 'modify':
      return !isRefused && answers.some((answer) => answer.decision === expected)
    case 'ask':
    case 'none':
      return decision === expected
  }
}
