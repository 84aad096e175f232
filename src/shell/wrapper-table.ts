import { packageWrappers } from './package-wrappers.ts'
import { processWrappers } from './process-wrappers.ts'
import { systemWrappers } from './system-wrappers.ts'
import type { Wrapper } from './wrapper.ts'

/** Every command that runs another command given in its words. The only list of them. */
export function describeWrappers(): Readonly<Record<string, Wrapper>> {
  return table
}

/** Programs that fetch secrets or settings for a command. */
function secretWrappers(): Readonly<Record<string, Wrapper>> {
  return {
    op: {
      options: '--account: --config: --session:',
      subcommands: { run: { options: '--env-file: --no-masking --environment:' } },
    },
    doppler: {
      options: '-t,--token: --config-dir: --scope: --silent',
      subcommands: {
        run: {
          options:
            '-p,--project: -c,--config: --command! --mount: --fallback: --preserve-env? --name-transformer: --watch',
        },
      },
    },
    'aws-vault': {
      options: '--debug --backend: --keychain: --prompt:',
      subcommands: {
        exec: {
          options: '-d,--duration: -n,--no-session --region: -t,--mfa-token: -j,--json -s,--server --lazy',
          operands: 1,
          permutes: true,
        },
      },
    },
    chamber: {
      options: '-b,--backend: -r,--retries: -v,--verbose',
      subcommands: { exec: { options: '--strict --pristine --strict-value:', afterDashes: true } },
    },
    infisical: {
      subcommands: {
        run: { options: '--env: --path: --projectId: --command! --watch --token: --recursive' },
      },
    },
  }
}

const table = { ...systemWrappers(), ...processWrappers(), ...packageWrappers(), ...secretWrappers() }

/** With a space around each. */
export const wrapperNames = ` ${Object.keys(table).join(' ')} `
