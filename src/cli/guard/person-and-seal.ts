import type { HookPlace } from '../../agents/hook-installer.ts'
import { refuseBeneathAgent } from '../../guard/unlock/prove-person.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { appendNote } from '../../guard-engine/ledger/open-ledger.ts'
import { sealedPaths } from '../../guard-engine/seal/own-paths.ts'
import { currentSeal, sealFiles } from '../../guard-engine/seal/seal-files.ts'
import type { HookTarget } from '../../guard-install/install-hooks.ts'
import { ownPlace } from '../../guard-install/own-place.ts'

/** Who may change a guard that is there, and what is sealed once it was changed. */
export function personAndSeal({
  root,
  env,
}: HookPlace): Pick<HookTarget, 'checkPerson' | 'seal'> & { readonly isSealed: boolean } {
  const home = guardHome(env)
  return {
    isSealed: currentSeal(home, root) !== null,
    checkPerson: () => refuseBeneathAgent({ env, pid: process.pid }),
    seal: async (files) => {
      const paths = [...new Set([...sealedPaths(ownPlace(root, env)), ...files])]
      const note = { kind: 'sealed', files: await sealFiles(paths) } as const
      appendNote({ guardHome: home, root, note, nowMs: Date.now() })
    },
  }
}
