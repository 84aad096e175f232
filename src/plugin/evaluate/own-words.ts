import type { PluginScenario } from '../generate/contract.ts'

/** What Gantry itself says in a trial: that it stands in the transcript proves nothing. */
export interface OwnWords {
  readonly texts: ReadonlySet<string>
  /** How many messages of the user are ours: the first ones. Their words alone would not do, for a transcript may be sanitised. */
  readonly userMessages: number
}

export function ownWordsOf({ user_prompt, setup_messages = [] }: PluginScenario): OwnWords {
  return {
    texts: new Set(
      [user_prompt, ...setup_messages.map(({ content }) => content)].map((words) => words.trim()),
    ),
    userMessages: 1 + setup_messages.filter(({ role }) => role === 'user').length,
  }
}

/** Where the scenario is not known, its prompt is the first message. */
export const unknownWords: OwnWords = { texts: new Set(), userMessages: 1 }
