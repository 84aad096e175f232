import type { EditorState, TaskStep } from './contract.ts'

/** What the Editor is doing. Once it has ended nothing moves it any more. */
export interface EditorStates {
  readonly current: EditorState
  /** Throws for a step the machine does not have, which is a bug of ours. */
  move(to: EditorState, reason: string): void
}

const ends: readonly EditorState[] = ['COMPLETED', 'STUCK', 'INFRA_ERROR', 'CANCELLED']
const stops: readonly EditorState[] = ['STUCK', 'INFRA_ERROR', 'CANCELLED']

const moves: Readonly<Record<EditorState, readonly EditorState[]>> = {
  IDLE: ['ANALYZING', 'IMPLEMENTING', ...stops],
  ANALYZING: ['IMPLEMENTING', ...stops],
  // A dry run ends without a verification.
  IMPLEMENTING: ['VERIFYING', 'COMPLETED', ...stops],
  VERIFYING: ['DEBUGGING', 'REPLANNING', 'COMPLETED', ...stops],
  DEBUGGING: ['VERIFYING', ...stops],
  REPLANNING: ['IMPLEMENTING', ...stops],
  COMPLETED: [],
  STUCK: [],
  INFRA_ERROR: [],
  CANCELLED: [],
}

export function editorStates(
  emit: (step: TaskStep) => void,
  onMove: (state: EditorState) => void,
): EditorStates {
  let current: EditorState = 'IDLE'
  return {
    get current() {
      return current
    },
    move: (to, reason) => {
      if (!moves[current].includes(to)) throw new Error(`the Editor cannot go from ${current} to ${to}`)
      const from = current
      current = to
      emit({ kind: 'state_transition', from, to, reason })
      onMove(to)
    },
  }
}

export function isEnd(state: EditorState): boolean {
  return ends.includes(state)
}
