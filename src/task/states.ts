import type { EditorState, TaskStep } from './contract.ts'

/** What the Editor is doing. An end is final. */
export type EditorStates = ReturnType<typeof editorStates>

const stops: readonly EditorState[] = ['NO_CHANGE', 'STUCK', 'INFRA_ERROR', 'CANCELLED']

const moves: Readonly<Record<EditorState, readonly EditorState[]>> = {
  IDLE: ['ANALYZING', 'IMPLEMENTING', ...stops],
  ANALYZING: ['IMPLEMENTING', ...stops],
  IMPLEMENTING: ['VERIFYING', ...stops],
  VERIFYING: ['DEBUGGING', 'REPLANNING', 'COMPLETED', 'WEAKENED', ...stops],
  DEBUGGING: ['VERIFYING', ...stops],
  REPLANNING: ['IMPLEMENTING', ...stops],
  COMPLETED: [],
  WEAKENED: [],
  NO_CHANGE: [],
  STUCK: [],
  INFRA_ERROR: [],
  CANCELLED: [],
}

export function editorStates(emit: (step: TaskStep) => void, onMove: (state: EditorState) => void) {
  let current: EditorState = 'IDLE'
  const move = (to: EditorState, reason: string): void => {
    if (!moves[current].includes(to)) throw new Error(`the Editor cannot go from ${current} to ${to}`)
    const from = current
    current = to
    emit({ kind: 'state_transition', from, to, reason })
    onMove(to)
  }
  return {
    /** Throws for a transition that does not exist, which is a bug. */
    move,
    /** Moves to an end unless there is one already. */
    stop: (to: 'NO_CHANGE' | 'STUCK' | 'INFRA_ERROR' | 'CANCELLED', reason: string): void => {
      if (!isEnd(current)) move(to, reason)
    },
  }
}

export function isEnd(state: EditorState): boolean {
  return moves[state].length === 0
}
