import { dirname } from 'node:path'
import type { ProofGate } from '../contract.ts'
import { denialsIn, hookFileOf, modelSaw } from '../observations.ts'
import { playWithCalls } from '../play-script.ts'
import { proofSettings } from '../proof-settings.ts'
import { shellWrites } from './denials.ts'

/** Ordinary git must leave the hooks where they are, and what removes them unseen must be undone. */
export const gitDisarming: ProofGate = {
  name: 'git keeps the hooks',
  expected: 'a stash and another branch leave the hooks, git clean -x is refused, removed hooks are put back',
  capability: 'injectAfterTool',
  async play(stage) {
    const project = await stage.project({
      files: { 'take.sh': 'rm -rf -- "$(cat name.txt)"\n' },
      settings: proofSettings(stage, { gate: false }),
      git: true,
    })
    const hooks = hookFileOf(stage, project)
    const before = project.read(hooks)
    const { calls } = await playWithCalls(project, {
      turns: [
        {
          calls: [
            {
              run: `printf '%s' '${dirname(hooks)}' > name.txt && git add -A && git stash -q && git stash pop -q`,
            },
          ],
        },
        {
          calls: [
            { run: 'git checkout -q -b other && git add -A && git commit -qm all && git checkout -q main' },
          ],
        },
        { calls: [{ run: 'git clean -fdxq' }] },
        { calls: [{ run: 'git checkout -q other && sh take.sh' }] },
        { text: 'Done.' },
      ],
    })
    const denials = denialsIn(project.ledger()).filter((rule) => rule === 'protect-itself').length
    const seen = `${denials} of 1 sweep refused; the hooks are ${project.read(hooks) === null ? 'gone' : 'there'}`
    const isBack = modelSaw(calls, 'Gantry has put them back')
    return {
      fired: denials === 1 && isBack && before !== null && project.read(hooks) === before,
      seen: isBack ? `${seen}, put back after a script removed them` : seen,
    }
  },
}

const task = 'Do the work of the canary subagent.'

/** The hooks of the session must judge the calls of its subagents. */
export const subagentDenied: ProofGate = {
  name: 'deny in a subagent',
  expected: 'a subagent does not write a protected file, and writes an ordinary one',
  capability: 'denyTool',
  async play(stage) {
    const project = await stage.project({ settings: proofSettings(stage, { gate: false }) })
    await playWithCalls(project, {
      turns: [{ calls: [{ subagent: { prompt: task } }] }, { text: 'Done.' }],
      rules: [
        {
          when: { prompt: task },
          turns: [...shellWrites.map((write) => ({ calls: [write] })), { text: 'Done.' }],
        },
      ],
    })
    const isWritten = project.read('.env.canary') !== null
    const isOrdinary = project.read('ordinary.txt') === 'written\n'
    if (isWritten) return { fired: false, seen: 'the subagent wrote the protected file' }
    if (!isOrdinary) return { fired: false, seen: 'the subagent did not write the ordinary file' }
    // Only the subagent tries it.
    return denialsIn(project.ledger()).includes('protect-files')
      ? { fired: true, seen: 'refused in the subagent; the ordinary file was written' }
      : { fired: false, seen: 'the protected file was not written, but no call of a subagent was refused' }
  },
}
