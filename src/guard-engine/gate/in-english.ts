/**
 * A request with its everyday words in English, so that one set of patterns reads German, French, Spanish, Italian, Portuguese and Dutch too.
 * Unknown words stay. Only for recognizing what was asked: names in it may be translated.
 */
export function inEnglish(prompt: string): string {
  const plain = prompt
    .replaceAll(/[äöüß]/gi, (letter) => umlauts[letter.toLowerCase()] ?? letter)
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/\bl['’]/gi, 'the ')
  return plain.replaceAll(/[a-z]+/gi, (word) => english.get(word.toLowerCase()) ?? word)
}

const umlauts: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' }

const vocabulary: Readonly<Record<string, string>> = {
  the: 'der die das den dem le la les el los las il lo gli het',
  please: 'bitte alsjeblieft',
  only: 'nur bloss lediglich seulement uniquement juste solo solamente soltanto apenas somente alleen',
  task: 'aufgabe schritt tache etape tarea paso compito passo tarefa taak',
  tasks: 'aufgaben schritte taches etapes tareas pasos compiti passi tarefas passos',
  first:
    'erste ersten erster erstes premier premiere primer primera primero primo prima primeiro primeira eerste',
  second: 'zweite zweiten zweiter zweites deuxieme seconde secondo seconda segundo segunda tweede',
  next: 'naechste naechsten naechster naechstes prochain prochaine suivant suivante siguiente proximo proxima prossimo prossima volgende',
  all: 'alle allen alles tous toutes todas tutti tutte',
  rest: 'uebrige uebrigen reste resto',
  do: 'mach mache erledige bearbeite implementiere fais faites realise haz realiza fai esegui faz doe',
  continue: 'weiter continuez continua sigue poursuis prosegui',
  leave: 'lass laisse deja lascia',
  forget: 'vergiss oublie olvida dimentica',
  bug: 'fehler erreur errore erro fout',
  fix: 'behebe beheben korrigiere korrigieren repariere corrige corriger corrigez corrija arregla correggi correggere',
  add: 'ergaenze ergaenzen fuege ajoute ajouter ajoutez anade agrega aggiungi aggiungere adiciona adicione',
  remove:
    'entferne entfernen loesche loeschen supprime supprimer supprimez elimina eliminar borra quita rimuovi rimuovere remova verwijder',
  rename: 'benenne umbenennen renomme renommer renombra rinomina renomeie hernoem',
  replace: 'ersetze ersetzen remplace remplacer reemplaza sostituisci substitua vervang',
  not: 'nicht pas nao niet',
  without: 'ohne sans sin senza sem zonder',
}

const english: ReadonlyMap<string, string> = new Map(
  Object.entries(vocabulary).flatMap(([meaning, words]) => words.split(' ').map((word) => [word, meaning])),
)
