import { posix } from 'node:path'
import { percentDecoded } from '../../core/percent-decoded.ts'
import { readOptions } from '../options.ts'
import type { Program, ProgramCall } from '../shell-state.ts'

/** Programs that fetch files. */
export const downloads: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['curl', curl],
  ['wget', wget],
])

/** Options of curl with a value that is not a file it writes. */
const curlValued =
  'X request H header d data data-raw data-binary data-urlencode F form u user A user-agent e b cookie T upload-file m max-time w write-out output-dir K config x proxy cacert cert E key url retry connect-timeout'

function curl({ args, state, shell }: ProgramCall): undefined {
  const written =
    'o output D dump-header c cookie-jar trace trace-ascii stderr etag-save libcurl hsts alt-svc'
  const options = readOptions(args, `${written} ${curlValued}`)
  const [directory] = options.values('output-dir')
  const into = (name: string): string => (directory === undefined ? name : `${directory.value}/${name}`)
  for (const file of options.values(written))
    shell.write({ value: into(file.value), text: file.text }, 'curl writes it', state)
  if (options.has('O remote-name remote-name-all'))
    for (const url of [...options.operands, ...options.values('url')])
      shell.write({ value: into(urlName(url.value)), text: url.text }, 'curl -O writes it', state)
  for (const { value } of options.values('w write-out'))
    for (const [, file = ''] of value.matchAll(/%output\{(?:>>)?([^}]+)\}/g))
      shell.write({ value: file, text: file }, 'curl -w writes it', state)
  if (options.has('K config'))
    shell.opaque(state.stdin ?? '', 'curl reads what it should do from a configuration')
}

function wget({ args, state, shell }: ProgramCall): undefined {
  const written = 'O output-document o output-file a append-output save-cookies'
  const rest = 'P directory-prefix header post-data post-file U user-agent i input-file T t'
  const options = readOptions(args, `${written} ${rest}`)
  for (const file of options.values(written)) shell.write(file, 'wget writes it', state)
  if (options.values('O output-document').length > 0) return
  const [directory] = options.values('P directory-prefix')
  for (const url of options.operands)
    shell.write(
      { value: `${directory?.value ?? '.'}/${urlName(url.value)}`, text: url.text },
      'wget writes it',
      state,
    )
}

function urlName(url: string): string {
  return percentDecoded(posix.basename(url.replace(/[?#].*$/, '')))
}
