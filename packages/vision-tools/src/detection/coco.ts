/** The 80 classes of COCO, with other words for them. */

/** In the order of the detector's outputs. */
export const cocoClasses: readonly string[] = (
  'person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,' +
  'stop sign,parking meter,bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,' +
  'backpack,umbrella,handbag,tie,suitcase,frisbee,skis,snowboard,sports ball,kite,baseball bat,' +
  'baseball glove,skateboard,surfboard,tennis racket,bottle,wine glass,cup,fork,knife,spoon,bowl,' +
  'banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,' +
  'potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,cell phone,microwave,oven,' +
  'toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush'
).split(',');

/** Groups of classes that one word names. */
const groups: Readonly<Record<string, string>> = {
  animal: 'bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe',
  pet: 'cat,dog,bird',
  vehicle: 'bicycle,car,motorcycle,airplane,bus,train,truck,boat',
  fruit: 'banana,apple,orange',
  vegetable: 'broccoli,carrot',
  food: 'banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake',
  furniture: 'bench,chair,couch,bed,dining table',
  seat: 'bench,chair,couch',
  bag: 'backpack,handbag,suitcase',
  luggage: 'backpack,handbag,suitcase',
  cutlery: 'fork,knife,spoon',
  plant: 'potted plant',
  ball: 'sports ball',
  table: 'dining table',
};

/** Words for one class, each list after its class. */
const synonyms: Readonly<Record<string, string>> = {
  person:
    'people,man,men,woman,women,boy,girl,child,children,kid,human,pedestrian,player,baby,lady,' +
    'guy,someone,astronaut,rider,driver,worker,officer,crowd,adult,face,figure',
  bicycle: 'bike,cycle',
  car: 'automobile,sedan,taxi,cab,suv,jeep',
  motorcycle: 'motorbike,scooter,moped',
  airplane: 'aeroplane,plane,aircraft,jet,airliner',
  bus: 'coach,minibus',
  train: 'locomotive,tram,metro',
  truck: 'lorry,van,pickup',
  boat: 'ship,sailboat,yacht,canoe,vessel,ferry',
  'traffic light': 'traffic signal,stoplight,stop light',
  'fire hydrant': 'hydrant',
  bird: 'pigeon,duck,parrot,seagull,gull,eagle,owl,swan,goose,geese,chicken',
  cat: 'kitten,kitty,tabby',
  dog: 'puppy,hound',
  horse: 'pony,foal',
  sheep: 'lamb,ewe',
  cow: 'cattle,bull,ox,oxen,calf,calves',
  backpack: 'rucksack,knapsack',
  umbrella: 'parasol',
  handbag: 'purse',
  tie: 'necktie',
  suitcase: 'trunk,briefcase',
  'sports ball': 'basketball,football,soccer ball,tennis ball,volleyball,baseball',
  'tennis racket': 'racket,racquet,tennis racquet',
  'wine glass': 'wineglass,goblet,glass',
  cup: 'mug,coffee cup,teacup,tea cup,coffee',
  knife: 'knives',
  donut: 'doughnut',
  'hot dog': 'hotdog',
  couch: 'sofa,settee',
  'potted plant': 'houseplant,pot plant,flowerpot,flower pot',
  'dining table': 'desk,kitchen table',
  tv: 'television,monitor,screen,tv screen',
  laptop: 'notebook computer,laptop computer',
  mouse: 'computer mouse',
  remote: 'remote control',
  'cell phone': 'phone,mobile phone,smartphone,telephone,mobile,cellphone',
  refrigerator: 'fridge',
  clock: 'wall clock,alarm clock',
  'teddy bear': 'teddy,stuffed bear',
  'hair drier': 'hair dryer,hairdryer,blow dryer',
};

const table = new Map<string, readonly number[]>();
for (const [word, members] of Object.entries(groups)) {
  table.set(
    word,
    members.split(',').map((name) => cocoClasses.indexOf(name)),
  );
}
for (const [name, words] of Object.entries(synonyms)) {
  for (const word of words.split(',')) table.set(word, [cocoClasses.indexOf(name)]);
}
for (const [index, name] of cocoClasses.entries()) table.set(name, [index]);

/** The classes that a word or a few name, in the singular or the plural; undefined for none. */
export function classesNamed(words: string): readonly number[] | undefined {
  for (const form of [words, ...singulars(words)]) {
    const found = table.get(form);
    if (found !== undefined) return found;
  }
  return undefined;
}

function singulars(words: string): readonly string[] {
  const forms: string[] = [];
  if (words.endsWith('ies')) forms.push(`${words.slice(0, -3)}y`);
  if (words.endsWith('es')) forms.push(words.slice(0, -2));
  if (words.endsWith('s')) forms.push(words.slice(0, -1));
  return forms;
}
