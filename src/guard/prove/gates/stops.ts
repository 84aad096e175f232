import type { ProofGate } from '../contract.ts'
import { endsIn, refusalsIn, toldModel } from '../observations.ts'
import { act } from '../play-script.ts'
import { checkCommand, checkFiles, maxRefusals, proofSettings } from '../proof-settings.ts'

/** Done is claimed with a wrong answer; then it is mended and checked, and claimed again. */
export const refuseStop: ProofGate = {
  name: 'refuse to stop',
  expected: 'refused without evidence, VERIFIED with it',
  capability: 'refuseStop',
  async play(stage) {
    const project = await stage.project({
      files: checkFiles,
      settings: proofSettings(stage, { gate: true }),
    })
    const { calls } = await act(project, {
      turns: [
        { calls: [{ write: { path: 'answer.txt', content: 'wrong\n' } }] },
        { text: 'Done, all checks pass.' },
        { calls: [{ run: `printf '42\\n' > answer.txt` }] },
        { calls: [{ run: checkCommand }] },
        { text: 'Now it is done.' },
      ],
    })
    const entries = project.ledger()
    const refusals = refusalsIn(entries)
    const end = endsIn(entries).at(-1) ?? 'no end'
    const seen = `${refusals} refused, then ${end}`
    if (!toldModel(calls, 'not done yet'))
      return { fired: false, seen: `${seen}; the model was told nothing` }
    const isMended = project.read('answer.txt') === '42\n'
    return { fired: isMended && refusals === 1 && end === 'VERIFIED', seen }
  },
}

/** A model that only ever claims to be done. */
export const boundReached: ProofGate = {
  name: 'bound of refusals',
  expected: `let go after ${maxRefusals} refusals, and called CAPPED`,
  capability: 'refuseStop',
  async play(stage) {
    const project = await stage.project({
      files: checkFiles,
      settings: proofSettings(stage, { gate: true }),
    })
    await act(project, {
      turns: [{ calls: [{ write: { path: 'answer.txt', content: 'wrong\n' } }] }, { text: 'Done.' }],
    })
    const entries = project.ledger()
    const refusals = refusalsIn(entries)
    const end = endsIn(entries).at(-1) ?? 'no end'
    return { fired: refusals === maxRefusals && end === 'CAPPED', seen: `${refusals} refused, then ${end}` }
  },
}
