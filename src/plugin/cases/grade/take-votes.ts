import { z } from 'zod'
import { contentHash } from '../../../io/content-hash.ts'
import { isFailed, type SampleCheckpoint, takeSamples } from '../../../judge/take-samples.ts'
import type { Model } from '../../../models/contract.ts'
import { type JudgeRequestOptions, modelSettings } from '../../evaluate/judge/judge-trial.ts'
import { type VoteQuestion, votePrompt } from './vote-prompt.ts'

/** Who votes, and what that may cost. */
export interface VotePowers extends JudgeRequestOptions {
  readonly model: Model
}

/** Plain data. */
export interface GivenPassVote {
  readonly kind: 'vote'
  readonly passed: boolean
  readonly reason: string
  /** Hash of what was asked. */
  readonly question: string
}

export interface Votes {
  /** null: too few could be had to decide. */
  readonly passed: boolean | null
  readonly message: string
  readonly costUsd: number | null
}

const votes = 3
const enough = 2
const voteSchema = z.object({ passed: z.boolean(), reason: z.string().default('') })

/** Three votes, of which two decide. A vote that cannot be had is no vote against. */
export async function takeVotes(
  question: VoteQuestion,
  powers: VotePowers,
  checkpoint: SampleCheckpoint<GivenPassVote> | undefined,
): Promise<Votes> {
  const asking = (vote: number) => {
    const words = votePrompt(question, vote, votes)
    return { words, hash: contentHash([words.system, words.prompt]) }
  }
  const { asked, costUsd } = await takeSamples<GivenPassVote>({
    samples: votes,
    ask: async (vote) => {
      const { words, hash } = asking(vote)
      const answer = await powers.model.structured({
        ...words,
        schema: voteSchema,
        ...modelSettings(powers),
      })
      return { ...answer, value: { kind: 'vote', ...answer.value, question: hash } }
    },
    fits: (stored, vote) => stored.question === asking(vote).hash,
    ...(checkpoint !== undefined && { checkpoint }),
  })
  const given = asked.map(({ result }) => result)
  const cast = given.filter((vote) => !isFailed(vote))
  const yes = cast.filter(({ passed }) => passed).length
  const passed = yes >= enough ? true : cast.length - yes >= enough ? false : null
  return { passed, message: messageOf(passed, cast, given.find(isFailed)?.message), costUsd }
}

function messageOf(
  passed: boolean | null,
  cast: readonly GivenPassVote[],
  error: string | undefined,
): string {
  if (passed === null) return `too few judges answered: ${error ?? 'none did'}`
  const count = cast.filter((vote) => vote.passed === passed).length
  const reason = cast.find((vote) => vote.passed === passed)?.reason ?? ''
  return `${count} of ${cast.length} judges say that it ${passed ? 'passes' : 'fails'}${reason === '' ? '' : `: ${reason}`}`
}
