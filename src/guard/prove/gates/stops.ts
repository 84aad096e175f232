import type { GuardedProject, ProofGate } from '../contract.ts'
import { endsIn, modelSaw, refusalsIn } from '../observations.ts'
import { playWithCalls } from '../play-script.ts'
import { checkCommand, checkFiles, maxRefusals, proofSettings } from '../proof-settings.ts'

/** The model claims to be done with a wrong answer, then fixes and checks it, and claims it again. */
export const refuseStop: ProofGate = {
  name: 'refuse to stop',
  expected: 'refused without evidence, VERIFIED with it',
  capability: 'refuseStop',
  async play(stage) {
    const project = await stage.project({ files: checkFiles, settings: proofSettings(stage, { gate: true }) })
    const { calls } = await playWithCalls(project, {
      turns: [
        { calls: [{ write: { path: 'answer.txt', content: 'wrong\n' } }] },
        { text: 'Done, all checks pass.' },
        { calls: [{ run: `printf '42\\n' > answer.txt` }] },
        { calls: [{ run: checkCommand }] },
        { text: 'Now it is done.' },
      ],
    })
    const { refusals, end, seen } = howEnded(project)
    if (!modelSaw(calls, 'not done yet')) return { fired: false, seen: `${seen}; the model got no reason` }
    const isMended = project.read('answer.txt') === '42\n'
    return { fired: isMended && refusals === 1 && end === 'VERIFIED', seen }
  },
}

/** A model that keeps claiming to be done. */
export const boundReached: ProofGate = {
  name: 'bound of refusals',
  expected: `${maxRefusals} refusals, then CAPPED`,
  capability: 'refuseStop',
  async play(stage) {
    const project = await stage.project({ files: checkFiles, settings: proofSettings(stage, { gate: true }) })
    await playWithCalls(project, {
      turns: [{ calls: [{ write: { path: 'answer.txt', content: 'wrong\n' } }] }, { text: 'Done.' }],
    })
    const { refusals, end, seen } = howEnded(project)
    return { fired: refusals === maxRefusals && end === 'CAPPED', seen }
  },
}

function howEnded(project: GuardedProject) {
  const entries = project.ledger()
  const refusals = refusalsIn(entries)
  const end = endsIn(entries).at(-1) ?? 'no end'
  return { refusals, end, seen: `${refusals} refused, then ${end}` }
}
