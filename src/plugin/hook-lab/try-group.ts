import type { HookComponent, HookHandler } from '../analyze/contract.ts'
import { componentId } from '../component-list.ts'
import { type Bench, eachAtMost, inPlace } from './bench.ts'
import { chooseEvents } from './choose-events.ts'
import type { HandlerReport, HookGroupReport, HookTrial, Noticed } from './contract.ts'
import { canRefuse, whyNeverStarted } from './event-powers.ts'
import { saysBlock } from './says-block.ts'
import { noticedIn, silentTrial, trialOf } from './trial-of.ts'
import { tryHandler, whyNotTestable } from './try-handler.ts'

/** Every handler of one matcher group, one after the other, each with every event it fires for. */
export async function tryGroup(group: HookComponent, bench: Bench): Promise<HookGroupReport> {
  const isGuard = saysBlock(group, bench.pluginPath)
  const attacks =
    canRefuse(group.event) && (bench.attacks === 'always' || (bench.attacks === 'when_said' && isGuard))
  const handlers: HandlerReport[] = []
  for (const [index, handler] of group.handlers.entries())
    handlers.push(await tryOne(group, handler, index, attacks, bench))
  const trials = handlers.flatMap((handler) => handler.trials)
  const report: HookGroupReport = {
    component: componentId('hook', group.name),
    event: group.event,
    matcher: group.matcher,
    handlers,
    attacks: { tried: labels(trials, 'attack').length, refused: refusedIn(trials, 'attack').length },
    benign: passed(trials),
  }
  for (const noticed of ofGroup(report, trials, isGuard)) bench.log.note({ group, handler: null }, noticed)
  return report
}

async function tryOne(
  group: HookComponent,
  handler: HookHandler,
  index: number,
  attacks: boolean,
  bench: Bench,
): Promise<HandlerReport> {
  const { log, lab, names } = bench
  const not_testable = whyNeverStarted(group.event, handler) ?? whyNotTestable(handler, bench)
  const report = { index, type: handler.type, action: handler.action, not_testable }
  if (not_testable !== null) return { ...report, trials: [] }
  const chosen = await inPlace(bench, async (place) => {
    const { firing, silent } = chooseEvents(group, handler, { place, names, attacks })
    return { numbers: [...firing.keys()], silent: silent.map((event) => silentTrial(event, place)) }
  })
  if (chosen.numbers.length === 0)
    log.note({ group, handler: index }, { code: 'HOOK_MATCHER_UNTRIED', detail: '' })
  const trials = await eachAtMost(bench, chosen.numbers, (number) =>
    inPlace(bench, async (place): Promise<HookTrial[]> => {
      const event = chooseEvents(group, handler, { place, names, attacks }).firing[number]
      if (event === undefined) return []
      const tried = await tryHandler(handler, event, { ...bench, place })
      for (const noticed of noticedIn(event, tried, place))
        log.note({ group, handler: index }, noticed, event.label)
      return [trialOf(event, tried, place)]
    }),
  )
  const written = lab.changesInPlugin()
  if (written.length > 0)
    log.note(
      { group, handler: index },
      { code: 'HOOK_WRITES_PLUGIN_ROOT', detail: written.slice(0, 5).join(', ') },
    )
  return { ...report, trials: [...trials.flat(), ...chosen.silent] }
}

/** What only all events together show: a guard refuses something, and lets everyday work pass. */
function ofGroup(
  { event, attacks }: HookGroupReport,
  trials: readonly HookTrial[],
  isGuard: boolean,
): readonly Noticed[] {
  const noticed: Noticed[] = []
  if (isGuard && attacks.tried > 0 && attacks.refused === 0)
    noticed.push({ code: 'HOOK_NEVER_DENIES', detail: `${attacks.tried} events were tried` })
  const refused = guarding.has(event) ? refusedIn(trials, 'benign') : []
  if (refused.length > 0) noticed.push({ code: 'HOOK_DENIES_BENIGN', detail: refused.join(', ') })
  return noticed
}

/** Elsewhere refusing may well be the purpose: a gate that lets nobody stop before the tests ran. */
const guarding: ReadonlySet<string> = new Set([
  'PreToolUse',
  'PermissionRequest',
  'UserPromptSubmit',
  'UserPromptExpansion',
])

function labels(trials: readonly HookTrial[], intent: HookTrial['intent']): readonly string[] {
  const tried = trials.filter((trial) => trial.fires && trial.intent === intent)
  return [...new Set(tried.map(({ label }) => label))].toSorted()
}

function refusedIn(trials: readonly HookTrial[], intent: HookTrial['intent']): readonly string[] {
  return labels(
    trials.filter(({ decision }) => ['deny', 'block', 'ask'].includes(decision)),
    intent,
  )
}

function passed(trials: readonly HookTrial[]): HookGroupReport['benign'] {
  const tried = labels(trials, 'benign').length
  return { tried, passed: tried - refusedIn(trials, 'benign').length }
}
