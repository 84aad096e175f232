import type { HookComponent } from '../analyze/contract.ts'
import { componentId } from '../component-list.ts'
import { type Bench, inPlace } from './bench.ts'
import { handlerFires } from './choose-events.ts'
import type { HookExampleResult, SimulatedEvent } from './contract.ts'
import { whyNeverStarted } from './event-powers.ts'
import { exampleEvent, type FoundExample } from './hook-examples.ts'
import { judgeExample, strictest } from './judge-example.ts'
import { withoutPlaces } from './lab-place.ts'
import { tryHandler, whyNotTestable } from './try-handler.ts'

/** One of the author's examples: all hooks that fire for it, at the same time and in the same place, as Claude Code runs them. */
export async function tryExample(
  { example, source }: FoundExample,
  groups: readonly HookComponent[],
  bench: Bench,
): Promise<HookExampleResult> {
  return inPlace(bench, async (place) => {
    const event = exampleEvent(example, place, bench.names)
    const firing = groups.flatMap((group) => firingHandlers(group, event, bench))
    const answers = await Promise.all(
      firing.map(async ({ handler }) => (await tryHandler(handler, event, { ...bench, place })).answer),
    )
    const failed = judgeExample(example, answers)
    const { decision, text } = strictest(answers)
    const clean = withoutPlaces(place)
    const blamed = firing[0]?.group ?? groups.find((group) => group.event === example.event)
    if (failed !== null && blamed !== undefined) {
      const noticed = { code: 'HOOK_EXAMPLE_FAILED', detail: clean(`${source}: ${failed}`) } as const
      bench.log.note({ group: blamed, handler: null }, noticed, source)
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

function firingHandlers(group: HookComponent, event: SimulatedEvent, bench: Bench) {
  return group.handlers.flatMap((handler, index) => {
    const runs = handlerFires(group, handler, event) && whyNeverStarted(group.event, handler) === null
    return runs && whyNotTestable(handler, bench) === null ? [{ group, handler, index }] : []
  })
}
