import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hookCodecs } from '../../../src/agents/hook-codecs.ts'
import { denialsIn, notesIn } from '../../../src/guard/prove/observations.ts'
import { installHooks } from '../../../src/guard-install/install-hooks.ts'
import { hooksAreSound, news } from './guard-seen.ts'
import { type GuardStage, openGuardStage } from './guard-stage.ts'
import { whenInstalled } from './when-installed.ts'

/** Protected files that are read-only for the commands of a real Claude Code. */
export function describeKernelLayer(id: string): void {
  whenInstalled([id], `the kernel layer in ${id}`, () => {
    let stage: GuardStage
    beforeAll(async () => {
      stage = await openGuardStage(id, 'claude-code')
    })
    afterAll(() => stage.close())
    const files = {
      '.env': 'A=1\n',
      'config/credentials.json': '{}\n',
      'name.txt': '.env\n',
      'answer.txt': '42\n',
      'check.sh': 'grep -q 42 answer.txt\n',
      'AGENTS.md': '# Checks\n\n- `sh check.sh`\n',
      // What none of the rules can see in the text of a call.
      'write.sh': 'read -r name < name.txt\necho changed > "$name"\n',
      'remove.sh': 'read -r name < name.txt\nrm -f "$name"\nmv "$name" gone\nln "$name" other\n',
      'directory.txt': 'config\n',
      'wipe.sh': 'read -r name < directory.txt\nrm -rf "$name"\n',
      'make.sh': 'read -r name < name.txt\necho new > "$name.local"\n',
    }

    test('files cannot be changed, removed or renamed by a command, and everything else works', async () => {
      const project = await stage.project({ files, enforceKernel: true })
      execFileSync('git', ['init', '--quiet'], { cwd: project.root })
      const played = await project.play({
        turns: [
          { calls: [{ run: 'sh write.sh' }] },
          { calls: [{ run: 'sh remove.sh' }] },
          { calls: [{ run: 'sh wipe.sh' }] },
          { calls: [{ run: 'mkdir -p src && cd src && printf 43 > new.txt && cat ../.env' }] },
          { calls: [{ run: 'pwd' }] },
          { calls: [{ run: `cd ${project.root} && sh check.sh` }] },
          { text: 'Done.' },
        ],
      })
      hooksAreSound(project, [played])
      expect(project.read('.env')).toBe('A=1\n')
      expect(project.read('config/credentials.json')).toBe('{}\n')
      expect(project.read('src/new.txt')).toBe('43')
      expect(project.read('gone')).toBeNull()
      expect(news(played, 1)).toContain('Read-only file system')
      expect(news(played, 1)).toContain('mounted read-only')
      expect(news(played, 2)).toMatch(/Device or resource busy/)
      expect(news(played, 4)).toContain('A=1')
      // The agent's working directory follows its commands as without the guard.
      expect(news(played, 5)).toContain(`${project.root}/src`)
      const entries = project.ledger()
      expect(denialsIn(entries)).toEqual([])
      const evidence = notesIn(entries).flatMap((note) => (note.kind === 'evidence' ? [note.evidence] : []))
      expect(evidence.map(({ command, exitCode }) => [command, exitCode])).toEqual([['sh check.sh', 0]])
      const commands = entries.flatMap((entry) =>
        entry.kind === 'event' && entry.event.kind === 'tool_before' ? [entry.event.call?.command] : [],
      )
      expect(commands[0]).toBe('sh write.sh')
    })

    test('a new protected file is put aside after the call, the model and the user are notified, and the stop is refused', async () => {
      const project = await stage.project({ files, enforceKernel: true })
      const played = await project.play({
        turns: [
          { calls: [{ run: 'sh make.sh' }] },
          { text: 'Done.' },
          { text: 'Really done.' },
          { text: 'Done.' },
          { text: 'Done.' },
          { text: 'Done.' },
          { text: 'Done.' },
          { text: 'Done.' },
        ],
      })
      expect(project.read('.env.local')).toBeNull()
      expect(news(played, 1)).toContain('.env.local: created')
      expect(news(played, 1)).toContain('It was put aside')
      expect(news(played, 2)).toContain('no person has seen it yet')
    })

    test("the guard's own files are read-only for commands too", async () => {
      const project = await stage.project({
        files: {
          ...files,
          'own.txt': 'harness.json\n.claude/settings.local.json\n',
          'own.sh': 'while read -r name; do echo "{}" > "$name"; done < own.txt\n',
        },
        settings: { version: '1.0.0' },
        enforceKernel: true,
      })
      const before = readFileSync(join(project.root, '.claude/settings.local.json'), 'utf8')
      const played = await project.play({ turns: [{ calls: [{ run: 'sh own.sh' }] }, { text: 'Done.' }] })
      expect(news(played, 1)).toMatch(/harness\.json: Read-only file system/)
      expect(readFileSync(join(project.root, '.claude/settings.local.json'), 'utf8')).toBe(before)
    })

    test("hooks of the project work beside the layer in the user's own settings", async () => {
      const project = await stage.project({ files })
      await installHooks({
        agents: ['claude-code'],
        scope: 'user',
        place: project,
        program: stage.program,
        enforceKernel: true,
        eventsOf: (one) => hookCodecs[one].events,
        checkPerson: async () => {},
        seal: async () => {},
        isSealed: false,
        dryRun: false,
      })
      expect(project.read('.claude/settings.local.json')).toContain('|| exit 0; exec ')
      const played = await project.play({
        turns: [
          { calls: [{ run: 'sh write.sh' }] },
          { calls: [{ run: 'echo fine > new.txt' }] },
          { text: 'Done.' },
        ],
      })
      expect(project.read('.env')).toBe('A=1\n')
      expect(project.read('new.txt')).toBe('fine\n')
      expect(news(played, 1)).toContain('Read-only file system')
      expect(denialsIn(project.ledger())).toEqual([])
    })

    test('a single command that needs what the layer takes away runs without it, with a warning', async () => {
      const project = await stage.project({ files, enforceKernel: true })
      const played = await project.play({
        turns: [
          { calls: [{ run: 'unshare --version' }] },
          { calls: [{ run: 'unshare --version > /dev/null; sh write.sh' }] },
          { text: 'Done.' },
        ],
      })
      expect(news(played, 1)).toContain(
        'protected files are not read-only for this command: unshare does not work with it',
      )
      expect(news(played, 2)).toContain('In a call of its own it runs without that')
      expect(project.read('.env')).toBe('A=1\n')
    })
  })
}
