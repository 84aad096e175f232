import { checkItem, type Draft, type DropReason, type ItemScene } from './check-item.ts'
import { isNearDuplicate } from './likeness.ts'
import { readItem } from './read-item.ts'

export interface Filled {
  readonly drafts: readonly Draft[]
  readonly dropped: readonly Dropped[]
}

export interface Dropped {
  readonly reason: DropReason
  /** What the model wrote, cut. */
  readonly prompt: string
}

const shown = 200

/** Puts the scenarios of one answer into the open slots, one after the other; what does not fit or is there already is told. */
export function fillSlots(
  answer: readonly Readonly<Record<string, unknown>>[],
  scene: ItemScene,
  earlier: readonly Draft[],
): Filled {
  const drafts: Draft[] = []
  const dropped: Dropped[] = []
  for (const raw of answer) {
    const item = readItem(raw)
    const taken = new Set(drafts.map(({ slot }) => slot.id))
    const checked = checkItem(item, { ...scene, open: scene.open.filter(({ id }) => !taken.has(id)) })
    const prompt = (item.user_prompt ?? '').slice(0, shown)
    if (checked.kind === 'dropped') dropped.push({ reason: checked.reason, prompt })
    else if (isRepeated(checked.draft, [...earlier, ...drafts]))
      dropped.push({ reason: 'near_duplicate', prompt })
    else drafts.push(checked.draft)
  }
  return { drafts, dropped }
}

/** What was said before a proactive message makes it another one. */
function isRepeated(draft: Draft, others: readonly Draft[]): boolean {
  const said = (of: Draft) => ({
    prompt: [...(of.setup ?? []).map(({ content }) => content), of.prompt].join('\n'),
    base: of.slot.base,
  })
  return others.some((other) => isNearDuplicate(said(draft), said(other)))
}
